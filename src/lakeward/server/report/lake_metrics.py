"""LakeMetrics: what people watch about tiering. Counted when it is asked for, over logs that are open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lakeward.model.table import TableInfo
from lakeward.runtime.metrics import Labels, Metrics
from lakeward.server.buckets.logs import Logs
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.lake.tiering import Outcome
from lakeward.server.coordinator.lake.tiering_states import TieringState


class Lag(NamedTuple):
    """What the log has and the lake has not: rows, and the age of the oldest of them."""

    rows: int
    seconds: float


class LakeMetrics:
    """How many tables are where in their round, and how far the lake is behind each."""

    def __init__(self, coordinator: Coordinator, logs: Logs) -> None:
        self._coordinator = coordinator
        self._logs = logs

    def declare(self, metrics: Metrics) -> None:
        """Add the rows of tiering."""
        tables = metrics.gauge("lakeward_lake_tables", "Lake tables by state of tiering.")
        tables.read_all_from(self._states)
        rounds = metrics.counter("lakeward_lake_rounds_total", "Rounds of tiering by outcome.")
        rounds.read_all_from(self._rounds)
        committed = metrics.counter("lakeward_lake_snapshots_committed_total", "Lake snapshots that were committed.")
        committed.read_from(lambda: self._coordinator.lake_snapshots.committed_count)
        rows = metrics.gauge("lakeward_lake_lag_rows", "Records of a table that are not yet in the lake.")
        rows.read_all_from(lambda: {_label(table): self.lag(table).rows for table in self._tables()})
        age = metrics.gauge("lakeward_lake_lag_seconds", "Age of the oldest record that is not yet in the lake.")
        age.read_all_from(lambda: {_label(table): self.lag(table).seconds for table in self._tables()})

    def lag(self, table: TableInfo) -> Lag:
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
        return {(("state", state.value),): counts[state] for state in TieringState}

    def _rounds(self) -> dict[Labels, float]:
        outcomes = self._coordinator.tiering.outcomes
        return {(("outcome", outcome.value),): outcomes[outcome] for outcome in Outcome}


def _label(table: TableInfo) -> Labels:
    return (("table", str(table.path)),)
