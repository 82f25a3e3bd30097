"""What a server counts, for GET /metrics."""

from __future__ import annotations

from collections.abc import Collection

from lakeward.runtime.metrics import Metrics
from lakeward.server.report.health import declare_damage
from lakeward.server.report.lake_metrics import LakeMetrics
from lakeward.server.roles import Roles
from lakeward.server.tablet.scrubber import Scrubber


def declare_metrics(
    metrics: Metrics,
    connections: Collection[object],
    roles: Roles,
    scrubber: Scrubber,
) -> None:
    """Add the rows that every server has; they are counted when they are asked for."""
    coordinator, tablets = roles.coordinator, roles.tablets
    clients = metrics.gauge("lakeward_connections", "Open client connections.")
    clients.read_from(lambda: len(connections))
    tables = metrics.gauge("lakeward_tables", "Tables in the catalog.")
    tables.read_from(lambda: sum(1 for _ in coordinator.catalog.tables()))
    logs = metrics.gauge("lakeward_open_logs", "Bucket logs that are in use.")
    logs.read_from(lambda: len(tablets.logs))
    stored = metrics.gauge("lakeward_log_bytes", "Bytes in the logs that are in use.")
    stored.read_from(tablets.logs.size_bytes)
    declare_damage(metrics, tablets.logs)
    scrubbed = metrics.counter("lakeward_scrubbed_bytes_total", "Bytes that the scrubber has read.")
    scrubbed.read_from(lambda: scrubber.bytes_read)
    waiting = metrics.gauge("lakeward_fetches_waiting", "Fetches that wait for rows.")
    waiting.read_from(lambda: len(tablets.waiters))
    LakeMetrics(coordinator, tablets.logs).declare(metrics)
    if roles.remote is not None:
        roles.remote.declare(metrics)
