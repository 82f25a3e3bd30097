"""Are these the batches that were written? Offsets without a gap, sizes that fit, checksums that are right.

The one place where stored bytes are believed or not: fetches, recovery, replay, copies, `verify` and the scrubber all
ask here. A batch costs 0.7 µs and its bytes 0.05 ms a megabyte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from lakeward.records.batch.batch_header import CRC_AT, HEADER_BYTES, OVERHEAD_BYTES, BatchHeader, read_header
from lakeward.records.batch.crc32c import checksum

_HEAD = struct.Struct("<qib")
#: From the CRC on: crc, (schema id, attributes), last offset delta. The same in every version.
_TAIL = struct.Struct("<I3xi")
_SMALLEST = HEADER_BYTES[0]
_VERSIONS = len(HEADER_BYTES)
#: What a reader believes a batch to be at most; a flipped bit of a length says more.
_BATCH_BYTES_MAX = 1 << 30
_OFFSETS_AHEAD_MAX = 1 << 40


class FoundBatch(NamedTuple):
    """A batch that stands whole at a position."""

    start: int
    end: int
    header: BatchHeader


class Prefix(NamedTuple):
    """How many bytes are good batches, the offset after them, and where the last of them begins."""

    size: int
    next_offset: int
    last_at: int


def good_prefix(data: memoryview, offset: int, bytes_max: int | None = None) -> Prefix:
    """Up to which byte batches follow each other from an offset on, all as they were written.

    The walk ends early at the first batch that begins at or after `bytes_max`.
    """
    position, last_at, end = 0, 0, len(data)
    bound = end if bytes_max is None else min(end, bytes_max)
    head, tail = _HEAD.unpack_from, _TAIL.unpack_from
    while position < bound and end - position >= _SMALLEST:
        base, length, magic = head(data, position)
        stop = position + OVERHEAD_BYTES + length
        if base != offset or not 0 <= magic < _VERSIONS or length + OVERHEAD_BYTES < HEADER_BYTES[magic] or stop > end:
            break
        at = position + CRC_AT[magic]
        crc, delta = tail(data, at)
        if delta < 0 or checksum(data[at + 4 : stop]) != crc:
            break
        position, last_at, offset = stop, position, base + delta + 1
    return Prefix(position, offset, last_at)


def batch_at(data: memoryview, position: int, offset: int | None = None) -> FoundBatch | None:
    """The batch at a position, if it is whole and good, and begins with an offset if one is given."""
    if len(data) - position < _SMALLEST:
        return None
    if offset is None:
        offset = _HEAD.unpack_from(data, position)[0]
    size = good_prefix(data[position:], offset, 1).size
    return FoundBatch(position, position + size, read_header(data, position)) if size else None


def size_at(data: memoryview, position: int) -> int:
    """The size that a header at a position claims; 0 when it cannot be one."""
    if len(data) - position < _SMALLEST:
        return 0
    _, length, magic = _HEAD.unpack_from(data, position)
    is_sane = 0 <= magic < _VERSIONS and HEADER_BYTES[magic] <= length + OVERHEAD_BYTES <= _BATCH_BYTES_MAX
    return length + OVERHEAD_BYTES if is_sane else 0


def candidates(data: memoryview, start: int, offset: int, end_offset: int | None) -> Iterator[int]:
    """Positions from `start` on where a later batch might begin, after what should stand before it was not found."""
    ahead = offset + _OFFSETS_AHEAD_MAX if end_offset is None else end_offset
    # Base offset (its three highest bytes are known), length (not nothing, not a gigabyte), version.
    high = sorted({(offset >> 40).to_bytes(3, "little"), (ahead >> 40).to_bytes(3, "little")})
    pattern = b"(?=.{5}(?:" + b"|".join(map(re.escape, high)) + rb")(?!\0{4}).{3}[\0-\x3f][\0-\x02])"
    for match in re.compile(pattern, re.DOTALL).finditer(data, start):
        base, _, _ = _HEAD.unpack_from(data, match.start()) if len(data) - match.start() >= _SMALLEST else (-1, 0, 0)
        if offset < base < ahead:
            yield match.start()
