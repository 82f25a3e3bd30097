"""QueryMetrics: what the queries of a connection have read, from which tier, and how long they took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lakeward.query.plan.splits import LakeSplit, Tier
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.runtime.metrics import Labels, Metrics

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.tables.connection import AsyncConnection

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class QueryMetrics:
    """Counts splits, rows, bytes and seconds. Safe to share between threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._metrics = Metrics()
        count, spread = self._metrics.counter, self._metrics.histogram
        self._scans = count("lakeward_query_scans_total", "Splits that were read, by tier.")
        self._rows = count("lakeward_query_rows_total", "Rows that splits gave, by tier, before the engine's filters.")
        self._bytes = count("lakeward_query_bytes_total", "Bytes that splits gave, by tier: of Arrow, or of files.")
        self._scan_seconds = spread("lakeward_query_scan_seconds", "How long splits took to be read.", _SECONDS)
        self._failures = count("lakeward_query_failures_total", "Queries in SQL that ended with an error.")
        self._seconds = spread("lakeward_query_seconds", "How long queries in SQL took, with their plans.", _SECONDS)

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        with self._lock:
            return self._metrics.text()

    def read(self, tier: Tier, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows, counted as they pass; time that the reader of them spends is not counted."""
        labels = _of(tier)
        with self._lock:
            self._scans.add(1, labels)
        spent_s = 0.0
        try:
            while True:
                began_s = self._clock.monotonic()
                batch = next(rows, None)
                spent_s += self._clock.monotonic() - began_s
                if batch is None:
                    return
                with self._lock:
                    self._rows.add(batch.num_rows, labels)
                    self._bytes.add(batch.nbytes, labels)
                yield batch
        finally:
            close = getattr(rows, "close", None)
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
    return (("tier", str(tier)),)
