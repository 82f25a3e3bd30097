"""Pieces of a segment → whole batches. A batch that begins in one piece and ends in a later one is put together."""

from __future__ import annotations

import struct
from typing import NamedTuple

from lakeward.client.decode.batch_cutter import PIECE_BYTES
from lakeward.client.remote.segment import Segment
from lakeward.errors import CorruptError, LakewardError
from lakeward.records.batch.batch_header import HEADER_BYTES, MAGIC_AT, OVERHEAD_BYTES, BatchHeader
from lakeward.records.batch.log_batch import walk_batches

_LENGTH = struct.Struct("<i")
_LENGTH_AT = 8
_HEAD_BYTES = MAGIC_AT + 1


class Cut(NamedTuple):
    """Some whole batches, and the header of the last of them; or only the wanted columns of the batches."""

    records: memoryview
    last: BatchHeader
    projected: bool = False


class PieceCutter:
    """Takes the pieces of one segment in order; checks that batches follow each other without a gap."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._at = segment.first_byte
        self._next_offset = segment.first_offset if segment.first_byte else segment.start_offset
        self._begun = b""
        self._wrong: CorruptError | None = None

    def take(self, piece: memoryview) -> list[Cut]:
        """The batches that end in the next piece. Reads the piece, so it is called from a worker thread.

        What lies before damage is handed on first; the error comes with the next call.
        """
        if self._wrong is not None:
            raise self._wrong
        found: list[Cut] = []
        try:
            self._cut(piece, found)
        except CorruptError as wrong:
            if not found:
                raise
            self._wrong = wrong
        return found

    def _cut(self, piece: memoryview, found: list[Cut]) -> None:
        if self._begun:
            piece = self._complete(piece, found)
        start = last_end = 0
        last: BatchHeader | None = None
        try:
            for span in walk_batches(piece):
                self._follows(span.header, self._at + span.start)
                last, last_end = span.header, span.end
                if last_end - start >= PIECE_BYTES:
                    found.append(Cut(piece[start:last_end], last))
                    start = last_end
        finally:
            if last is not None and last_end > start:
                found.append(Cut(piece[start:last_end], last))
        self._at += last_end
        if not self._begun:
            self._begun = bytes(piece[last_end:])
            size = self._size_of_head(self._begun)
            if size and size <= len(self._begun):
                raise self._no_batch()

    def end(self) -> None:
        """Nothing more comes: whatever is missing now will stay so."""
        if self._wrong is not None:
            raise self._wrong
        if self._begun:
            raise self._damage_error(f"its last batch, at byte {self._at}, is cut off")
        if self._next_offset != self._segment.end_offset:
            raise self._damage_error(f"it ends at offset {self._next_offset}, not at {self._segment.end_offset}")

    def _complete(self, piece: memoryview, found: list[Cut]) -> memoryview:
        """Put the begun batch together; returns what is left of the piece."""
        size = self._size_of_head(self._begun + bytes(piece[:_HEAD_BYTES]))
        missing = size - len(self._begun)
        if size == 0 or missing > len(piece):
            self._begun += piece
            return piece[len(piece) :]
        batch = memoryview(self._begun + bytes(piece[:missing]))
        self._begun = b""
        for span in walk_batches(batch):
            self._follows(span.header, self._at)
            found.append(Cut(batch, span.header))
        if not found:
            raise self._no_batch()
        self._at += size
        return piece[missing:]

    def _size_of_head(self, head: bytes) -> int:
        """The size of a batch that begins so; 0 when too little of it is there to tell."""
        if len(head) < _HEAD_BYTES:
            return 0
        size: int = _LENGTH.unpack_from(head, _LENGTH_AT)[0] + OVERHEAD_BYTES
        magic = head[MAGIC_AT]
        left = self._segment.size_bytes - self._at
        if magic >= len(HEADER_BYTES) or not HEADER_BYTES[magic] <= size <= left:
            raise self._no_batch()
        return size

    def _follows(self, header: BatchHeader, at: int) -> None:
        if self._next_offset is not None and header.base_offset != self._next_offset:
            raise self._damage_error(
                f"offset {self._next_offset} is missing at byte {at}; {header.base_offset} is there"
            )
        self._next_offset = header.last_offset + 1

    def _no_batch(self) -> LakewardError:
        return self._damage_error(f"there is no batch at byte {self._at}")

    def _damage_error(self, what: str) -> LakewardError:
        return self._segment.damage_error(what)
