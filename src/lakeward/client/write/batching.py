"""Small writes gathered into batches, large ones cut into batches. No clock and no network here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

#: A piece of up to this many times the wanted size goes as it is: copying it costs more than the size is worth.
_OVERSIZE = 4


class Destination(NamedTuple):
    """Where rows go. A bucket of None is chosen when the batch is closed."""

    partition: str | None
    bucket: int | None


@dataclass(slots=True)
class _Pending:
    pieces: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


class Batching:
    """Rows waiting for company, per destination."""

    def __init__(self, batch_bytes: int, batch_rows: int | None = None) -> None:
        self._batch_bytes = batch_bytes
        self._batch_rows = batch_rows
        self._pending: dict[Destination, _Pending] = {}

    def __bool__(self) -> bool:
        return bool(self._pending)

    def add(self, to: Destination, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows; yields the batches that are full now, oldest rows first."""
        step = self._step(rows)
        at = 0
        while at < rows.num_rows:
            pending = self._pending.get(to)
            if pending is None:
                pending = self._pending[to] = _Pending()
            size = step if self._batch_rows is None else min(step, self._batch_rows - pending.rows)
            piece = rows if not at and size >= rows.num_rows else rows.slice(at, size)
            at += piece.num_rows
            pending.pieces.append(piece)
            pending.rows += piece.num_rows
            pending.bytes += piece.nbytes
            if self._is_full(pending):
                yield self.close(to)

    def close(self, to: Destination) -> pa.RecordBatch:
        """The rows that wait for this destination, as one batch."""
        pieces = self._pending.pop(to).pieces
        return pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces)

    def waiting(self) -> list[Destination]:
        """Destinations for which rows wait, in the order in which they began to."""
        return list(self._pending)

    def _is_full(self, pending: _Pending) -> bool:
        return pending.bytes >= self._batch_bytes or (self._batch_rows is not None and pending.rows >= self._batch_rows)

    def _step(self, rows: pa.RecordBatch) -> int:
        """Rows to take at a time; all of them unless they are far too many."""
        if rows.nbytes <= _OVERSIZE * self._batch_bytes:
            return int(rows.num_rows)
        return max(1, int(rows.num_rows * self._batch_bytes // rows.nbytes))
