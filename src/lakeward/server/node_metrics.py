"""What a server counts, for GET /metrics."""

from __future__ import annotations

from collections.abc import Collection

from lakeward.options.authentication import PLAIN, SCRAM
from lakeward.runtime.metrics import Metrics
from lakeward.server.access.doorkeeper import HTTP, LoginReport
from lakeward.server.report.health import declare_damage
from lakeward.server.report.lake_metrics import LakeMetrics
from lakeward.server.roles import Roles
from lakeward.server.tablet.scrubber import Scrubber

#: What a client names is not a label before it is known: there would be no end of labels.
_MECHANISMS = frozenset((PLAIN, SCRAM, HTTP))


class LoginCounts:
    """How many logins there were, and how many of them failed."""

    def __init__(self, metrics: Metrics) -> None:
        self._logins = metrics.counter("lakeward_logins_total", "Logins by mechanism and result.")

    def hear(self, report: LoginReport) -> None:
        """One more."""
        mechanism = report.mechanism.upper() if report.mechanism.upper() in _MECHANISMS else "other"
        result = "refused" if report.principal is None else "let in"
        self._logins.add(1, (("mechanism", mechanism), ("result", result)))


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
