"""QueryMetrics: what the queries of a connection have read, from which tier, and how long they took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lakeward.query.plan.splits import LakeSplit, Tier
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import services as rows

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.tables.connection import AsyncConnection


class QueryMetrics:
    """Counts splits, rows, bytes and seconds. Safe to share between threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._metrics = Metrics()
        count, spread = self._metrics.counter, self._metrics.histogram
        self._scans = count(rows.QUERY_SCANS)
        self._rows = count(rows.QUERY_ROWS_READ)
        self._bytes = count(rows.QUERY_BYTES)
        self._scan_seconds = spread(rows.QUERY_SCAN_SECONDS)
        self._failures = count(rows.QUERY_FAILURES)
        self._seconds = spread(rows.QUERY_SECONDS)

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        with self._lock:
            return self._metrics.text()

    def read(self, tier: Tier, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows, counted as they pass; time that the reader of them spends is not counted."""
        labels = _of(tier)
        with self._lock:
            self._scans.add(1, labels)
        spent_s = 0.0
        try:
            while True:
                began_s = self._clock.monotonic()
                batch = next(batches, None)
                spent_s += self._clock.monotonic() - began_s
                if batch is None:
                    return
                with self._lock:
                    self._rows.add(batch.num_rows, labels)
                    self._bytes.add(batch.nbytes, labels)
                yield batch
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()
            with self._lock:
                self._scan_seconds.observe(spent_s, labels)

    def count_files(self, split: LakeSplit) -> None:
        """A split whose files the engine scans by itself: its rows and bytes are those of the files."""
        labels = _of(split.tier)
        with self._lock:
            self._scans.add(1, labels)
            self._rows.add(split.weight, labels)
            self._bytes.add(split.lake_bytes, labels)

    @contextmanager
    def query(self) -> Iterator[None]:
        """Around a whole query."""
        began_s = self._clock.monotonic()
        try:
            yield
        except BaseException:
            with self._lock:
                self._failures.add()
            raise
        finally:
            with self._lock:
                self._seconds.observe(self._clock.monotonic() - began_s)


_kept: WeakKeyDictionary[AsyncConnection, QueryMetrics] = WeakKeyDictionary()
_lock = Lock()


def metrics_of(conn: AsyncConnection) -> QueryMetrics:
    """Those of a connection, whichever facades it has."""
    with _lock:
        found = _kept.get(conn)
        if found is None:
            found = _kept[conn] = QueryMetrics(SystemClock())
        return found


def _of(tier: Tier) -> Labels:
    return (str(tier),)
