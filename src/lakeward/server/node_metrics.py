"""What a server counts, for GET /metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lakeward.options.authentication import PLAIN, SCRAM
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.server.access.doorkeeper import HTTP, LoginReport
from lakeward.server.front import Front
from lakeward.server.ground import Ground
from lakeward.server.report.health import declare_damage
from lakeward.server.report.lake_metrics import LakeMetrics
from lakeward.server.report.table_survey import TableSurvey
from lakeward.server.role_parts import AnyRoles
from lakeward.server.roles import Roles
from lakeward.server.tablet.scrubber import Scrubber
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import requests as request_rows
from lakeward.telemetry.rows import storage as rows
from lakeward.telemetry.rows.metric_row import MetricRow
from lakeward.telemetry.rows.security import LOGINS

#: What a client names is not a label before it is known: there would be no end of labels.
_MECHANISMS = frozenset((PLAIN, SCRAM, HTTP))


class LoginCounts:
    """How many logins there were, and how many of them failed."""

    def __init__(self, metrics: Metrics) -> None:
        self._logins = metrics.counter(LOGINS)

    def hear(self, report: LoginReport) -> None:
        """One more."""
        mechanism = report.mechanism.upper() if report.mechanism.upper() in _MECHANISMS else "other"
        result = "refused" if report.principal is None else "let in"
        self._logins.add(1, (mechanism, result))


def declare_metrics(
    metrics: Metrics,
    connections: Collection[object],
    ground: Ground,
    roles: AnyRoles,
    scrubber: Scrubber,
    pool: BufferPool,
    tables_max: int,
) -> None:
    """Add the rows that every server has; they are counted when they are asked for."""
    catalog, tablets, space = roles.catalog, roles.tablets, roles.space
    TableSurvey(catalog, tablets, ground.clock, tables_max).declare(metrics)
    gauges: dict[MetricRow, Callable[[], float]] = {
        request_rows.CONNECTIONS: lambda: len(connections),
        request_rows.FETCHES_WAITING: lambda: len(tablets.waiters),
        request_rows.RECEIVE_BYTES: lambda: pool.used_bytes,
        rows.TABLES: lambda: sum(1 for _ in catalog.tables()),
        rows.OPEN_LOGS: lambda: len(tablets.logs),
        rows.OPEN_LOG_FILES: lambda: len(ground.files),
        rows.DISK_FREE: lambda: space.free_bytes,
        rows.DISK_TOTAL: lambda: space.total_bytes,
        rows.DAMAGED_SNAPSHOTS: lambda: len(scrubber.damage_found()),
        rows.WRITES_STOPPED: lambda: int(bool(space.reasons)),
        rows.CLOCK_IN_DOUBT: lambda: int(ground.clock.trouble is not None),
    }
    for row, read in gauges.items():
        metrics.gauge(row).read_from(read)
    counters: dict[MetricRow, Callable[[], float]] = {
        rows.SCRUBBED: lambda: scrubber.bytes_read,
        rows.COMPACTIONS: lambda: tablets.chores.compactions,
        rows.COMPACTED_BYTES: lambda: tablets.chores.compaction_freed_bytes,
    }
    for row, read in counters.items():
        metrics.counter(row).read_from(read)
    declare_damage(metrics, tablets.logs)
    if isinstance(roles, Roles):
        LakeMetrics(roles.coordinator, tablets.logs).declare(metrics)
    if roles.remote is not None:
        roles.remote.declare(metrics)


def declare_front(metrics: Metrics, front: Front) -> None:
    """Add what is counted of those who come."""
    metrics.counter(request_rows.CONNECTIONS_ACCEPTED).read_from(lambda: front.accepted_count)
    metrics.counter(request_rows.CONNECTIONS_REFUSED).read_from(lambda: front.refused_count)
