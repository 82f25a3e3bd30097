"""Changes gathered into batches, per bucket. No clock and no network here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lakeward.client.upsert.changes import Piece
from lakeward.client.write.batching import Destination

#: Apache Fluss has room for 131,072 changes of one batch, and an update is two; more fail the whole batch.
BATCH_ROWS_MAX = 32_768


@dataclass(slots=True)
class _Pending:
    pieces: list[Piece] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


class ChangeBatching:
    """Changes waiting for company, per destination."""

    def __init__(self, batch_bytes: int, batch_rows: int | None = None) -> None:
        self._batch_bytes = batch_bytes
        self._batch_rows = min(batch_rows or BATCH_ROWS_MAX, BATCH_ROWS_MAX)
        self._pending: dict[Destination, _Pending] = {}

    def add(self, to: Destination, piece: Piece) -> Iterator[list[Piece]]:
        """Take changes; yields the batches that are full now, oldest changes first."""
        for part in self._parts(to, piece):
            pending = self._pending.setdefault(to, _Pending())
            pending.pieces.append(part)
            pending.rows += len(part.which)
            pending.bytes += part.bytes
            if pending.bytes >= self._batch_bytes or pending.rows == self._batch_rows:
                yield self.close(to)

    def _parts(self, to: Destination, piece: Piece) -> Iterator[Piece]:
        at, total = 0, len(piece.which)
        while at < total:
            taken = self._pending[to].rows if to in self._pending else 0
            part = piece.which[at : at + self._batch_rows - taken]
            yield piece._replace(which=part, bytes=piece.bytes * len(part) // total)
            at += len(part)

    def close(self, to: Destination) -> list[Piece]:
        """The changes that wait for this destination."""
        return self._pending.pop(to).pieces

    def waiting(self) -> list[Destination]:
        """Destinations for which changes wait, in the order in which they began to."""
        return list(self._pending)
