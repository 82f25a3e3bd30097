"""Which stretches of a segment hold the wanted columns, and batches made of them.

A unit is some batches whose stretches are got together. Stretches that lie close to each other are got as one. Every
buffer that is used is checked by its sum; the heads were checked with the file of sums.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from lakeward.client.remote.piece_cutter import Cut
from lakeward.client.remote.segment import Segment
from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import OVERHEAD_BYTES
from lakeward.records.batch.column_sums import BatchSums, buffer_ends
from lakeward.records.batch.crc32c import checksum
from lakeward.records.batch.log_batch import BatchSpan
from lakeward.records.batch.projection import Projection, plan_surgery

if TYPE_CHECKING:
    from lakeward.client.decode.log_decoder import LogDecoder

_LENGTH = struct.Struct("<i")
_LENGTH_AT = 8
#: A unit has at least so many bytes, where there are so many: enough to be worth a thread, few enough to share.
UNIT_BYTES = 1 << 20


class _Summed(NamedTuple):
    """A buffer in the segment and the checksum that it must have."""

    start: int
    stop: int
    crc: int


class _Wanted(NamedTuple):
    """One batch: its new head, and what of the old body stands behind that."""

    batch: BatchSums
    head: bytearray
    stretches: list[tuple[int, int]]
    summed: list[_Summed]


@dataclass(slots=True)
class Unit:
    """Batches that are got together: what of them is wanted, and the stretches that are got for it."""

    wanted: list[_Wanted] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    bytes: int = 0

    @property
    def position(self) -> int:
        """Where its first batch begins."""
        return self.wanted[0].batch.position

    @property
    def offset(self) -> int:
        """The offset of its first row."""
        return self.wanted[0].batch.header.base_offset

    def add(self, one: _Wanted, gap_bytes: int) -> None:
        """One more batch."""
        self.wanted.append(one)
        for start, stop in one.stretches:
            if self.places and start - self.places[-1][1] <= gap_bytes:
                first, before = self.places.pop()
                self.bytes -= before - first
                start = first
            self.places.append((start, stop))
            self.bytes += stop - start

    def assemble(self, data: memoryview, *, check_crc: bool) -> Cut:
        """Batches of the wanted columns; CORRUPT_RECORD when what came is not what was written."""
        if len(data) != self.bytes:
            raise ErrorCode.CORRUPT_RECORD.error("A stretch of the segment is cut off.")
        places = _Places(data, self.places)
        parts: list[bytearray | memoryview] = []
        for one in self.wanted:
            if check_crc and any(checksum(places.view(start, stop)) != crc for start, stop, crc in one.summed):
                raise ErrorCode.CORRUPT_RECORD.error("A stretch of the segment has a wrong CRC.")
            parts.append(one.head)
            parts += [places.view(start, stop) for start, stop in one.stretches]
        return Cut(memoryview(b"".join(parts)), self.wanted[-1].batch.header, projected=True)


class _Places:
    """Stretches that were got, by where they are in the segment."""

    def __init__(self, data: memoryview, places: Sequence[tuple[int, int]]) -> None:
        self._data = data
        self._starts = [start for start, _ in places]
        sizes = (stop - start for start, stop in places)
        self._at = list(accumulate(sizes, initial=0))

    def view(self, start: int, stop: int) -> memoryview:
        """The bytes between two positions of the segment."""
        place = bisect_right(self._starts, start) - 1
        shift = self._at[place] - self._starts[place]
        return self._data[start + shift : stop + shift]


def plan_units(
    segment: Segment, batches: Sequence[BatchSums], decoder: LogDecoder, gap_bytes: int, end_offset: int | None
) -> list[Unit] | None:
    """The units of a segment up to an offset; None when it had better be read whole."""
    units = [Unit()]
    total = 0
    for batch in batches:
        if batch.position < segment.first_byte:
            continue
        if end_offset is not None and batch.header.base_offset >= end_offset:
            break
        one = _wanted_of(batch, decoder)
        if one is None:
            return None
        if units[-1].bytes >= UNIT_BYTES:
            units.append(Unit())
        units[-1].add(one, gap_bytes)
        total += batch.header.size
    if not units[-1].wanted:
        units.pop()
    return units if 2 * sum(unit.bytes for unit in units) <= total else None


def _wanted_of(batch: BatchSums, decoder: LogDecoder) -> _Wanted | None:
    """What is wanted of a batch; None when nothing tells."""
    header, head = batch.header, batch.head
    records_at = header.header_bytes + header.statistics_length
    if not header.record_count:
        return _Wanted(batch, bytearray(head), [], [])
    plan = decoder.surgery(header.schema_id)
    if plan is None:
        return None
    if not decoder.may_match(header, head[header.header_bytes : records_at]):
        return _Wanted(batch, _with_length(bytearray(head[:records_at]), 0), [], [])  # as the decoder will find, too
    surgery = plan_surgery(head, BatchSpan(0, header.size, header), plan)
    body_at = batch.position + surgery.message.body_at
    ends = buffer_ends(surgery.message)
    if len(batch.sums) != len(ends) - 1:
        return None
    summed = [
        _Summed(body_at + start, body_at + stop, crc)
        for (start, stop), crc in _chosen(list(pairwise(ends)), batch.sums, plan)
        if stop > start
    ]
    stretches = [(batch.position + start, batch.position + stop) for start, stop in surgery.stretches if stop > start]
    new_head = _with_length(bytearray(head[:records_at]) + surgery.metadata, surgery.body_bytes)
    return _Wanted(batch, new_head, stretches, summed)


def _chosen(
    buffers: list[tuple[int, int]], sums: Sequence[int], plan: Projection
) -> Iterator[tuple[tuple[int, int], int]]:
    for run in plan.runs:
        yield from zip(
            buffers[run.first_buffer : run.stop_buffer], sums[run.first_buffer : run.stop_buffer], strict=True
        )


def _with_length(head: bytearray, body_bytes: int) -> bytearray:
    """A head that says how long its batch is now."""
    _LENGTH.pack_into(head, _LENGTH_AT, len(head) + body_bytes - OVERHEAD_BYTES)
    return head
