"""What `lakeward bench` does: append, scan, and rows one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_COLUMNS = (
    "id BIGINT, at TIMESTAMP(3), user_id BIGINT, session STRING, url STRING, status INT, bytes INT, "
    "took_ms DOUBLE, is_cached BOOLEAN, country STRING"
)
_NARROW = ("id", "took_ms")


class BenchWork:
    """The steps of the bench, on a table of its own."""

    def __init__(self, connection: Connection, name: str, buckets: int) -> None:
        self._table = connection.create_table(name, _COLUMNS, buckets=buckets)
        self._clock = SystemClock()

    def steps(self, rows: int, batch_rows: int, single_rows: int) -> Iterator[dict[str, Any]]:
        """Do one thing after the other; each result says what was done and how long it took."""
        batch = _batch(min(batch_rows, rows)).cast(self._table.schema)
        yield self._measure("append", rows, batch.nbytes / batch.num_rows, lambda: self._append(batch, rows))
        yield self._measure("scan", rows, batch.nbytes / batch.num_rows, lambda: self._scan(None))
        narrow = batch.select(_NARROW)
        yield self._measure("scan 2 of 10 columns", rows, narrow.nbytes / narrow.num_rows, lambda: self._scan(_NARROW))
        one = batch.slice(0, 1)
        yield _latency("one row acknowledged", self._append_times(one, single_rows))
        yield _latency("one row until a reader has it", self._read_back(one, single_rows))

    def _measure(self, work: str, rows: int, row_bytes: float, run: Callable[[], int]) -> dict[str, Any]:
        started = self._clock.monotonic()
        done = run()
        seconds = self._clock.monotonic() - started
        assert done == rows, f"{work}: {done} of {rows} rows"
        return {"work": work, "rows": rows, "bytes": round(rows * row_bytes), "seconds": seconds}

    def _append(self, batch: pa.RecordBatch, rows: int) -> int:
        with self._table.writer() as writer:
            for left in range(rows, 0, -batch.num_rows):
                writer.write(batch.slice(0, left))
        return writer.written

    def _scan(self, columns: tuple[str, ...] | None) -> int:
        return sum(batch.num_rows for batch in self._table.scan(columns).batches())

    def _append_times(self, one: pa.RecordBatch, rows: int) -> Iterator[float]:
        with self._table.writer(linger_ms=0) as writer:
            for _ in range(rows):
                started = self._clock.monotonic()
                writer.write(one)
                writer.flush()
                yield self._clock.monotonic() - started

    def _read_back(self, one: pa.RecordBatch, rows: int) -> Iterator[float]:
        news = self._table.scan(start=self._table.offsets("latest"), end=None, limit=rows).follow()
        with self._table.writer(linger_ms=0) as writer:
            for _ in range(rows):
                started = self._clock.monotonic()
                writer.write(one)
                next(news)
                yield self._clock.monotonic() - started


def _latency(work: str, seconds: Iterator[float]) -> dict[str, Any]:
    taken_ms = np.array(list(seconds)) * 1000
    return {
        "work": work,
        "count": len(taken_ms),
        "p50_ms": float(np.percentile(taken_ms, 50)),
        "p99_ms": float(np.percentile(taken_ms, 99)),
    }


def _batch(rows: int) -> pa.RecordBatch:
    """Made-up requests of a web server; the same each time."""
    numbers = np.random.default_rng(7)
    ids = np.arange(rows)
    words = pa.array([f"/products/{i}" for i in range(1000)])
    sessions = pa.array([f"session-{i:012d}" for i in range(1000)])
    countries = pa.array(["DE", "FR", "IN", "JP", "NG", "PE", "US"])
    return pa.RecordBatch.from_pydict(
        {
            "id": ids,
            "at": pa.array(1_785_000_000_000 + ids, pa.timestamp("ms")),
            "user_id": numbers.integers(0, 1_000_000, rows),
            "session": sessions.take(pa.array(numbers.integers(0, len(sessions), rows))),
            "url": words.take(pa.array(numbers.integers(0, len(words), rows))),
            "status": numbers.choice(np.array([200, 200, 200, 404, 500], np.int32), rows),
            "bytes": numbers.integers(0, 1 << 20, rows, dtype=np.int32),
            "took_ms": numbers.random(rows) * 100,
            "is_cached": numbers.random(rows) < 0.5,
            "country": countries.take(pa.array(numbers.integers(0, len(countries), rows))),
        }
    )
