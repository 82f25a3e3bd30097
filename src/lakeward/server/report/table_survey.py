"""TableSurvey: what is counted of each table. Walks over all logs and states in steps, so that nobody waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import Clock
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.tablet.requests.traffic import TableTraffic
from lakeward.server.tablet.tablets import Tablets
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import storage, tables
from lakeward.telemetry.rows.metric_row import MetricRow

#: What is shown of tables beyond those that have a name of their own.
OTHERS = "(others)"
#: So many buckets are looked at without a break.
_AT_ONCE = 50
_TRAFFIC = {
    tables.TABLE_ROWS_IN: "rows_in",
    tables.TABLE_BYTES_IN: "bytes_in",
    tables.TABLE_ROWS_OUT: "rows_out",
    tables.TABLE_BYTES_OUT: "bytes_out",
    tables.TABLE_KEYS_LOOKED_UP: "keys_looked_up",
}
_LOG_FIGURES = {
    tables.TABLE_LOG_BYTES: "log_bytes",
    tables.TABLE_SEGMENTS: "segments",
    tables.TABLE_OPEN_BUCKETS: "buckets",
}
_STATE_FIGURES = {
    tables.TABLE_KEYS: "keys",
    tables.TABLE_STATE_BYTES: "state_bytes",
    tables.TABLE_SNAPSHOT_AGE: "snapshot_age_s",
    tables.TABLE_SNAPSHOT_LAG: "snapshot_lag_rows",
}


@dataclass(slots=True)
class _Figures:
    """What is kept of one table."""

    log_bytes: int = 0
    segments: int = 0
    buckets: int = 0
    states: int = 0
    keys: int = 0
    state_bytes: int = 0
    snapshot_age_s: float = 0.0
    snapshot_lag_rows: int = 0


@dataclass(slots=True)
class _Survey:
    """One walk over everything."""

    names: dict[int, str] = field(default_factory=dict)
    figures: dict[str, _Figures] = field(default_factory=dict)
    buckets: Counter[str] = field(default_factory=Counter)
    log_bytes: int = 0
    segments: int = 0

    def of(self, table_id: int) -> _Figures | None:
        """The figures of a table, if it is there."""
        name = self.names.get(table_id)
        return None if name is None else self.figures.setdefault(name, _Figures())


class TableSurvey:
    """The newest walk; rows and bytes that went in and out are those of the moment."""

    def __init__(self, catalog: Catalog, tablets: Tablets, clock: Clock, tables_max: int) -> None:
        """`tables_max` is how many tables are shown one by one."""
        self._catalog = catalog
        self._tablets = tablets
        self._clock = clock
        self._tables_max = tables_max
        self._newest = _Survey()
        #: When the first change was made that no snapshot holds: by bucket, the end of the snapshot and that time.
        self._changed_ms: dict[TableBucket, tuple[int, int]] = {}

    def walk(self) -> Iterator[None]:
        """Look at everything, in steps."""
        survey = _Survey()
        for number, table in enumerate(list(self._catalog.tables())):
            survey.names[table.table_id] = str(table.path) if number < self._tables_max else OTHERS
        yield
        yield from self._walk_logs(survey)
        yield from self._walk_states(survey)
        opened = len(self._tablets.logs)
        all_buckets = 0
        for all_buckets, _ in enumerate(self._catalog.all_buckets(), 1):
            if all_buckets % (20 * _AT_ONCE) == 0:
                yield
        survey.buckets["idle"] = max(0, all_buckets - opened)
        self._newest = survey

    def _walk_logs(self, survey: _Survey) -> Iterator[None]:
        busy = self._tablets.busy
        for number, (bucket, log) in enumerate(self._tablets.logs.all()):
            if number % _AT_ONCE == _AT_ONCE - 1:
                yield
            figures = survey.of(bucket.table_id)
            if figures is None:
                continue  # dropped meanwhile
            size, segments = log.size, log.segment_count
            figures.log_bytes += size
            figures.segments += segments
            figures.buckets += 1
            survey.log_bytes += size
            survey.segments += segments
            survey.buckets["damaged" if any(True for _ in log.damages) else "busy" if bucket in busy else "open"] += 1

    def _walk_states(self, survey: _Survey) -> Iterator[None]:
        now_ms = self._clock.now_ms()
        changed: dict[TableBucket, tuple[int, int]] = {}
        for number, (bucket, state) in enumerate(self._tablets.states.all()):
            if number % _AT_ONCE == _AT_ONCE - 1:
                yield
            figures = survey.of(bucket.table_id)
            if figures is None or bucket in self._tablets.busy:
                continue
            figures.states += 1
            figures.keys += state.row_count
            figures.state_bytes += state.live_bytes
            behind = state.log.end_offset - max(0, state.snapshot_offset)
            if behind > 0:
                changed[bucket] = self._first_change(bucket, state.log, state.snapshot_offset)
                figures.snapshot_lag_rows += behind
                age_s = max(0, now_ms - changed[bucket][1]) / 1000
                figures.snapshot_age_s = max(figures.snapshot_age_s, age_s)
        self._changed_ms = changed

    def _first_change(self, bucket: TableBucket, log: LogTablet, offset: int) -> tuple[int, int]:
        """Looked up in the log once for each snapshot."""
        before = self._changed_ms.get(bucket)
        if before is not None and before[0] == offset:
            return before
        return offset, log.time_ms_at(max(offset, log.start_offset))

    # -- for Prometheus

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        metrics.before(self.walk)
        for row, name in _TRAFFIC.items():
            metrics.counter(row).read_all_from(self._reading_traffic(name))
        for figures, is_shown in ((_LOG_FIGURES, "buckets"), (_STATE_FIGURES, "states")):
            for row, name in figures.items():
                self._declare_figure(metrics, row, name, is_shown)
        metrics.gauge(storage.BUCKETS).read_all_from(
            lambda: {(state,): self._newest.buckets[state] for state in ("open", "idle", "busy", "damaged")}
        )
        metrics.gauge(storage.LOG_BYTES).read_from(lambda: self._newest.log_bytes)
        metrics.gauge(storage.LOG_SEGMENTS).read_from(lambda: self._newest.segments)

    def _declare_figure(self, metrics: Metrics, row: MetricRow, name: str, is_shown: str) -> None:
        def read() -> Mapping[Labels, float]:
            figures = self._newest.figures.items()
            return {(table,): getattr(one, name) for table, one in figures if getattr(one, is_shown)}

        metrics.gauge(row).read_all_from(read)

    def _reading_traffic(self, name: str) -> Callable[[], Mapping[Labels, float]]:
        def read() -> Mapping[Labels, float]:
            sums: dict[Labels, float] = {}
            for label, one in self._traffic():
                sums[label,] = sums.get((label,), 0) + getattr(one, name)
            return sums

        return read

    def _traffic(self) -> Iterator[tuple[str, TableTraffic]]:
        for table_id, one in self._tablets.traffic.items():
            name = self._newest.names.get(table_id)
            if name is not None:
                yield name, one
