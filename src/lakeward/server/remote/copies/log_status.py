"""RemoteLogStatus: numbers about the remote log, for people and for Prometheus. Counted when they are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.runtime.clock import Clock
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.buckets.logs import Logs
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.remote.copies.log_copies import LogCopies
from lakeward.server.remote.copies.remote_garbage import RemoteGarbage
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import remote as metric_rows

_FRESH_S = 0.2
#: So many buckets are looked at without a break.
_AT_ONCE = 50
#: … and shown of one table.
_BUCKETS_MAX = 1000


@dataclass(slots=True)
class TableNumbers:
    """What of a table is where. Lag is what a lost disk would cost."""

    local_segments: int = 0
    local_bytes: int = 0
    remote_segments: int = 0
    remote_bytes: int = 0
    lag_rows: int = 0
    lag_bytes: int = 0
    lag_seconds: float = 0.0

    def add(self, other: TableNumbers) -> None:
        """Count another one in."""
        for name in ("local_segments", "local_bytes", "remote_segments", "remote_bytes", "lag_rows", "lag_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.lag_seconds = max(self.lag_seconds, other.lag_seconds)


@dataclass(slots=True)
class _Counts:
    tables: dict[str, TableNumbers] = field(default_factory=dict)
    total: TableNumbers = field(default_factory=TableNumbers)


_GAUGES = {
    "local_segments": metric_rows.REMOTE_LOCAL_SEGMENTS,
    "local_bytes": metric_rows.REMOTE_LOCAL_BYTES,
    "remote_segments": metric_rows.REMOTE_SEGMENTS,
    "remote_bytes": metric_rows.REMOTE_BYTES,
    "lag_rows": metric_rows.REMOTE_LAG_ROWS,
    "lag_bytes": metric_rows.REMOTE_LAG_BYTES,
    "lag_seconds": metric_rows.REMOTE_LAG_SECONDS,
}


class RemoteLogStatus:
    """Looks at logs, pointers and copies."""

    def __init__(
        self,
        catalog: Catalog,
        local: Logs,
        logs: RemoteLogs,
        copies: LogCopies,
        garbage: RemoteGarbage,
        clock: Clock,
    ) -> None:
        self._catalog = catalog
        self._local = local
        self._logs = logs
        self._copies = copies
        self._garbage = garbage
        self._clock = clock
        self._counted = _Counts()
        self._counted_s = -_FRESH_S

    def numbers(self) -> _Counts:
        """Everything, by table and in all; counted once for all that is asked in a moment."""
        if self._clock.monotonic() - self._counted_s >= _FRESH_S:
            deque(self._count(), maxlen=0)
        return self._counted

    def _count(self) -> Iterator[None]:
        """Count everything, in steps."""
        counted = _Counts()
        for number, (bucket, one) in enumerate(self._buckets()):
            if number % _AT_ONCE == _AT_ONCE - 1:
                yield
            table = self._catalog.table_by_id(bucket.table_id)
            if table is not None:
                counted.tables.setdefault(str(table.path), TableNumbers()).add(one)
                counted.total.add(one)
        self._counted, self._counted_s = counted, self._clock.monotonic()

    def _buckets(self, table_id: int | None = None) -> Iterator[tuple[TableBucket, TableNumbers]]:
        """Buckets that have something: logs in use, at rest as they were last seen, and what is remote of others."""
        opened = dict(self._local.all())
        for bucket in opened.keys() | self._copies.at_rest.keys() | self._logs.pointers.keys():
            if table_id not in {None, bucket.table_id}:
                continue
            log = opened.get(bucket)
            numbers = self._at_rest(bucket) if log is None else self._in_use(bucket, log)
            pointer = self._logs.pointers.get(bucket)
            if pointer is not None:
                numbers.remote_segments, numbers.remote_bytes = pointer.segment_count, pointer.size_in_bytes
            yield bucket, numbers

    def _at_rest(self, bucket: TableBucket) -> TableNumbers:
        seen = self._copies.at_rest.get(bucket)
        if seen is None:
            return TableNumbers()
        end = self._logs.remote_end(bucket)
        lag = sum(size for base, size in seen if base >= end)
        return TableNumbers(len(seen), sum(size for _, size in seen), lag_bytes=lag)

    def _in_use(self, bucket: TableBucket, log: LogTablet) -> TableNumbers:
        end = max(self._logs.remote_end(bucket), log.start_offset)
        numbers = TableNumbers(log.segment_count, log.size, lag_bytes=log.bytes_from(end))
        if end < log.end_offset:
            numbers.lag_rows = log.end_offset - end
            numbers.lag_seconds = max(0, self._clock.now_ms() - log.time_ms_at(end)) / 1000
        return numbers

    # -- for people

    def document(self, table: str = "") -> dict[str, Any]:
        """Everything as one JSON document; of the table that is named, its buckets as well."""
        counted, trouble, done = self.numbers(), self._copies.trouble, self._copies.counts
        more = {"buckets": self._bucket_rows(table)} if table else {}
        return more | {
            "store": self._logs.url("").rstrip("/"),
            "is_failing": trouble.is_there,
            "reason": trouble.last_reason,
            "failures": trouble.failures_total,
            "buckets_waiting": self._copies.waiting,
            "files_to_delete": len(self._garbage),
            "copied_segments": done.segments,
            "copied_bytes": done.bytes,
            "expired_segments": done.expired,
            **asdict(counted.total),
            "tables": [{"table": name, **asdict(one)} for name, one in sorted(counted.tables.items())],
        }

    def _bucket_rows(self, name: str) -> list[dict[str, Any]]:
        table = self._catalog.table_by_path(TablePath.parse(name))
        if table is None:
            return []
        names: dict[int | None, str | None] = {None: None}
        names |= {one.partition_id: one.name for one in self._catalog.partitions_of(table.table_id)}
        rows = [
            {"partition": names.get(bucket.partition_id), "bucket": bucket.bucket, **asdict(one)}
            for bucket, one in islice(self._buckets(table.table_id), _BUCKETS_MAX)
        ]
        return sorted(rows, key=lambda row: (row["partition"] or "", row["bucket"]))

    # -- for Prometheus

    def declare(self, metrics: Metrics) -> None:
        """Add the rows of the remote log."""
        metrics.before(self._count)
        for name, row in _GAUGES.items():
            metrics.gauge(row).read_all_from(self._reading(name))
        done, trouble = self._copies.counts, self._copies.trouble
        metrics.counter(metric_rows.REMOTE_COPIED_SEGMENTS).read_from(lambda: done.segments)
        metrics.counter(metric_rows.REMOTE_COPIED_BYTES).read_from(lambda: done.bytes)
        metrics.counter(metric_rows.REMOTE_EXPIRED).read_from(lambda: done.expired)
        metrics.counter(metric_rows.REMOTE_LOG_FAILURES).read_from(lambda: trouble.failures_total)
        metrics.gauge(metric_rows.REMOTE_BUCKETS_WAITING).read_from(lambda: self._copies.waiting)

    def _reading(self, name: str) -> Callable[[], dict[Labels, float]]:
        def read() -> dict[Labels, float]:
            tables = self._counted.tables
            return {(table,): getattr(one, name) for table, one in tables.items()}

        return read
