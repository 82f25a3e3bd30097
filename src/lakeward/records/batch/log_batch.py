"""Log record batches in a buffer: cut, check, patch, walk.

A log, a fetched answer and a remote segment are plain concatenations of batches. Nothing here decodes records.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.batch_header import (
    CRC_AT,
    HEADER_BYTES,
    LAYOUTS,
    MAGIC_AT,
    OVERHEAD_BYTES,
    TIMESTAMP_AT,
    BatchHeader,
    read_header,
)
from lakeward.records.batch.crc32c import checksum

Buffer = bytes | bytearray | memoryview

#: Offsets that a batch without records may take: a segment can count to twice as many.
EMPTY_OFFSETS_MAX = 1 << 30

_I64 = struct.Struct("<q")
_LENGTH = struct.Struct("<i")
_CRC = struct.Struct("<I")
_WRITER = struct.Struct("<qi")
_WRITER_AT = tuple(layout.offset("writer_id") for layout in LAYOUTS)


class BatchSpan(NamedTuple):
    """A batch inside a buffer."""

    start: int
    end: int
    header: BatchHeader


def cut_batches(data: Buffer) -> list[BatchSpan]:
    """Every batch of a payload, sizes and checksums verified; anything else is CORRUPT_RECORD."""
    spans = []
    position, end = 0, len(data)
    if not end:
        raise _damage_error("the payload is empty")
    while position < end:
        span = _span(data, position, end)
        if span is None:
            raise _damage_error(f"batch at byte {position} is cut off or is not a batch")
        if not crc_is_right(data, span):
            raise _damage_error(f"batch at byte {position} has a wrong CRC")
        header = span.header
        if not _offsets_fit(header):
            raise _damage_error(f"{header.record_count} records cannot take {header.last_offset_delta + 1} offsets")
        spans.append(span)
        position = span.end
    return spans


def _offsets_fit(header: BatchHeader) -> bool:
    """Every record takes one offset; a batch without records takes as many as it says: their rows are elsewhere."""
    if header.record_count:
        return header.record_count > 0 and header.last_offset_delta == header.record_count - 1
    is_bare = header.size == header.header_bytes
    return header.last_offset_delta == 0 or (is_bare and 0 < header.last_offset_delta < EMPTY_OFFSETS_MAX)


def walk_batches(data: Buffer, position: int = 0) -> Iterator[BatchSpan]:
    """The whole batches from a position on; stops quietly at a cut-off tail."""
    end = len(data)
    while (span := _span(data, position, end)) is not None:
        yield span
        position = span.end


def _span(data: Buffer, position: int, end: int) -> BatchSpan | None:
    """The batch at a position if it lies whole in the buffer and looks like one."""
    if end - position < HEADER_BYTES[0]:
        return None
    size = _LENGTH.unpack_from(data, position + 8)[0] + OVERHEAD_BYTES
    magic = data[position + MAGIC_AT]
    if magic >= len(HEADER_BYTES) or size < HEADER_BYTES[magic] or size > end - position:
        return None
    header = read_header(data, position)
    if header.statistics_length < 0 or HEADER_BYTES[magic] + header.statistics_length > size:
        return None
    return BatchSpan(position, position + size, header)


def crc_is_right(data: Buffer, span: BatchSpan) -> bool:
    """Whether the batch's bytes are those that were written."""
    at = span.start + CRC_AT[span.header.magic]
    return int(checksum(memoryview(data)[at + 4 : span.end])) == span.header.crc


def stamp(data: bytearray | memoryview, start: int, base_offset: int, timestamp_ms: int) -> None:
    """Write what the server decides into a batch's header; the CRC does not cover it."""
    _I64.pack_into(data, start, base_offset)
    _I64.pack_into(data, start + TIMESTAMP_AT, timestamp_ms)


def seal(batch: bytearray) -> None:
    """Write length and CRC into a batch whose other bytes are final."""
    _LENGTH.pack_into(batch, 8, len(batch) - OVERHEAD_BYTES)
    at = CRC_AT[batch[MAGIC_AT]]
    _CRC.pack_into(batch, at, checksum(memoryview(batch)[at + 4 :]))


def reseal(batch: bytearray, writer_id: int, batch_sequence: int) -> None:
    """Write who sends a finished batch into it, and the CRC that belongs to that."""
    _WRITER.pack_into(batch, _WRITER_AT[batch[MAGIC_AT]], writer_id, batch_sequence)
    seal(batch)


def _damage_error(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The record batch is damaged: {what}.")
