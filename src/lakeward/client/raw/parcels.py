"""Parcels: what travels in one request to one bucket, and which offsets it is to take there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from lakeward.client.decode.batch_cutter import batches_of
from lakeward.client.decode.log_decoder import Chunk
from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import APPEND_ONLY, OVERHEAD_BYTES, BatchHeader, write_header
from lakeward.records.batch.log_batch import EMPTY_OFFSETS_MAX, BatchSpan, reseal

#: Small batches travel together up to this size; a larger one alone.
PARCEL_BYTES = 1 << 20
#: Very small batches are many in a parcel; a server takes them one after the other without a break.
_BATCHES_MAX = 1024
_V0_LENGTH = 48 - OVERHEAD_BYTES


class Parcel(Protocol):
    """Batches that follow each other."""

    first: int
    """The offset of its first row in the source, and so in the target."""
    end: int
    """The offset behind its last row."""
    rows: int
    bytes: int
    schema_id: int

    @property
    def batches(self) -> int:
        """How many numbers of its writer it takes."""
        ...

    def seal(self, writer_id: int, sequence: int) -> bytearray:
        """The bytes to send, numbered from a sequence on. Called from worker threads."""
        ...

    def behind(self, offset: int) -> Parcel | None:
        """What of it lies at an offset and behind; None for nothing."""
        ...


class LogParcel:
    """Batches of a log table as they are in the source, but for who sends them."""

    def __init__(self, data: memoryview, spans: list[BatchSpan]) -> None:
        self._data, self._spans = data, spans
        first, last = spans[0].header, spans[-1].header
        self.first, self.end = first.base_offset, last.last_offset + 1
        self.rows = sum(span.header.record_count for span in spans)
        self.bytes = spans[-1].end - spans[0].start
        self.schema_id = max(span.header.schema_id for span in spans)

    @property
    def batches(self) -> int:
        """One number each."""
        return len(self._spans)

    def seal(self, writer_id: int, sequence: int) -> bytearray:
        """All of them, one behind the other."""
        pieces = []
        for place, span in enumerate(self._spans):
            batch = bytearray(self._data[span.start : span.end])
            reseal(batch, writer_id, (sequence + place) % (1 << 31))
            pieces.append(batch)
        return pieces[0] if len(pieces) == 1 else bytearray().join(pieces)

    def behind(self, offset: int) -> LogParcel | None:
        """Without the batches before an offset."""
        left = [span for span in self._spans if span.header.base_offset >= offset]
        return LogParcel(self._data, left) if left else None


class GapParcel:
    """Offsets that have no rows: one batch without records that takes them all."""

    rows = 0
    bytes = 48
    batches = 1

    def __init__(self, first: int, end: int, schema_id: int) -> None:
        self.first, self.end, self.schema_id = first, end, schema_id

    def seal(self, writer_id: int, sequence: int) -> bytearray:
        """A header and nothing behind it."""
        header = BatchHeader(
            0, _V0_LENGTH, 0, 0, 0, self.schema_id, APPEND_ONLY, self.end - self.first - 1, writer_id, sequence, 0
        )
        batch = bytearray(write_header(header))
        reseal(batch, writer_id, sequence)
        return batch

    def behind(self, offset: int) -> GapParcel | None:
        """The rest of the gap."""
        return GapParcel(max(self.first, offset), self.end, self.schema_id) if offset < self.end else None


def gaps(first: int, end: int, schema_id: int) -> Iterator[GapParcel]:
    """Parcels for offsets without rows."""
    while first < end:
        yield GapParcel(first, min(end, first + EMPTY_OFFSETS_MAX), schema_id)
        first += EMPTY_OFFSETS_MAX


def log_parcels(chunk: Chunk, expected: int) -> Iterator[LogParcel | GapParcel]:
    """The batches of a chunk of a log table, of which `expected` is the next offset to be copied."""
    taken: list[BatchSpan] = []
    size = 0
    for span in batches_of(chunk.data):
        header = span.header
        if header.last_offset < expected:
            continue
        if chunk.to_offset is not None and header.base_offset >= chunk.to_offset:
            break  # it may be of a schema that nobody has told the target yet
        if header.base_offset < expected:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"bucket {chunk.id}: the copy ends at offset {expected}, in the middle of a batch of the source, which "
                f"begins at {header.base_offset}. It was not made by `lakeward copy`; drop the table and copy it anew."
            )
        is_gap = not header.record_count and header.last_offset_delta > 0
        if taken and (size + header.size > PARCEL_BYTES or header.base_offset > expected or is_gap):
            yield LogParcel(chunk.data, taken)
            taken, size = [], 0
        yield from gaps(expected, header.base_offset, header.schema_id)
        expected = header.last_offset + 1
        if is_gap:
            yield from gaps(header.base_offset, expected, header.schema_id)
            continue
        taken.append(span)
        size += header.size
        if len(taken) == _BATCHES_MAX:
            yield LogParcel(chunk.data, taken)
            taken, size = [], 0
    if taken:
        yield LogParcel(chunk.data, taken)
