"""TailBuffer: rows on their way to a page. It holds the newest, a few hundred; what is older is counted and let go."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import pyarrow as pa

_BYTES_MAX = 8 << 20


@dataclass(frozen=True, slots=True)
class Taken:
    """What has come since somebody last looked: the newest rows that match, and how many came and were let go."""

    batches: list[pa.RecordBatch]
    seen: int
    left_out: int


class TailBuffer:
    """A slow browser makes it let go of rows, never grow."""

    def __init__(self, rows_max: int, bytes_max: int = _BYTES_MAX) -> None:
        self._rows_max = rows_max
        self._bytes_max = bytes_max
        self._batches: deque[pa.RecordBatch] = deque()
        self._rows = 0
        self._bytes = 0
        self._seen = 0
        self._left_out = 0

    @property
    def has_news(self) -> bool:
        """Whether anything has come, if only rows that do not match."""
        return self._seen > 0

    def add(self, matching: pa.RecordBatch, seen: int) -> None:
        """Rows that match, out of `seen` that have come."""
        self._seen += seen
        if not matching.num_rows:
            return
        self._put(self._newest(matching))
        while self._rows > self._rows_max or (self._bytes > self._bytes_max and len(self._batches) > 1):
            self._shorten()

    def take(self) -> Taken:
        """All of it; the buffer is empty then."""
        taken = Taken(list(self._batches), self._seen, self._left_out)
        self._batches.clear()
        self._rows = self._bytes = self._seen = self._left_out = 0
        return taken

    def _newest(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The last rows of a large batch, copied, so that they do not hold the rest of it."""
        extra = batch.num_rows - self._rows_max
        if extra <= 0:
            return batch
        self._left_out += extra
        return batch.take(pa.array(range(extra, batch.num_rows), pa.int64()))

    def _put(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes

    def _shorten(self) -> None:
        """Let go of the oldest rows: a batch, or the part of it that is too much."""
        oldest = self._batches.popleft()
        self._rows -= oldest.num_rows
        self._bytes -= oldest.nbytes
        kept = 0 if self._bytes > self._bytes_max else max(self._rows_max - self._rows, 0)
        kept = min(kept, oldest.num_rows - 1)
        self._left_out += oldest.num_rows - kept
        if kept:
            rest = oldest.slice(oldest.num_rows - kept)
            self._batches.appendleft(rest)
            self._rows += rest.num_rows
            self._bytes += rest.nbytes
