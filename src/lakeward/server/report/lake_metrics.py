"""LakeMetrics: what people watch about tiering. Counted when it is asked for, table by table, over open logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lakeward.model.table import TableInfo
from lakeward.server.buckets.logs import Logs
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.lake.tiering import Outcome
from lakeward.server.coordinator.lake.tiering_states import TieringState
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import lake as rows


class Lag(NamedTuple):
    """What the log has and the lake has not: rows, and the age of the oldest of them."""

    rows: int
    seconds: float


class LakeMetrics:
    """How many tables are where in their round, and how far the lake is behind each."""

    def __init__(self, coordinator: Coordinator, logs: Logs) -> None:
        self._coordinator = coordinator
        self._logs = logs
        self._lags: dict[str, Lag] = {}

    def declare(self, metrics: Metrics) -> None:
        """Add the rows of tiering."""
        metrics.before(self._look)
        metrics.gauge(rows.LAKE_TABLES).read_all_from(self._states)
        metrics.counter(rows.LAKE_ROUNDS).read_all_from(self._rounds)
        metrics.counter(rows.LAKE_SNAPSHOTS).read_from(lambda: self._coordinator.lake_snapshots.committed_count)
        metrics.gauge(rows.LAKE_LAG_ROWS).read_all_from(lambda: {(name,): lag.rows for name, lag in self._lags.items()})
        metrics.gauge(rows.LAKE_LAG_SECONDS).read_all_from(
            lambda: {(name,): lag.seconds for name, lag in self._lags.items()}
        )

    def _look(self) -> Iterator[None]:
        """Look at each table; others are served in between."""
        lags: dict[str, Lag] = {}
        for table in list(self._tables()):
            lags[str(table.path)] = self._lag(table)
            yield
        self._lags = lags

    def _lag(self, table: TableInfo) -> Lag:
        """How far the lake is behind a table."""
        now_ms = self._coordinator.clock.now_ms()
        rows, oldest_ms = 0, now_ms
        for bucket in self._coordinator.catalog.buckets_of(table):
            log = self._logs.find(bucket)
            if log is None:
                continue
            offset = max(self._coordinator.lake_floor(bucket) or 0, log.start_offset)
            if offset < log.end_offset:
                rows += log.end_offset - offset
                oldest_ms = min(oldest_ms, log.time_ms_at(offset))
        return Lag(rows, max(0, now_ms - oldest_ms) / 1000)

    def _tables(self) -> Iterator[TableInfo]:
        for entry in self._coordinator.tiering.machine:
            table = self._coordinator.catalog.table_by_id(entry.table_id)
            if table is not None:
                yield table

    def _states(self) -> dict[Labels, float]:
        counts = self._coordinator.tiering.machine.counts()
        return {(state.value,): counts[state] for state in TieringState}

    def _rounds(self) -> dict[Labels, float]:
        outcomes = self._coordinator.tiering.outcomes
        return {(outcome.value,): outcomes[outcome] for outcome in Outcome}
