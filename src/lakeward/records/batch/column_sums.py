"""Column sums: what a reader must know of a segment to read some of its columns, and to trust them.

A batch has one checksum over all of its bytes, so whoever reads a part of it cannot check that part. Beside a segment
of large batches stands a small file with the head of each batch (header, statistics, metadata of the Arrow message)
and a checksum of each buffer of its body:

    "LWCS", version, CRC-32C of all that follows, number of batches
    for each batch: its position, bytes of its head, number of its buffers, the head, a CRC-32C for each buffer

A buffer reaches to where the next one begins. Segments whose batches are small, or hold no plain Arrow rows, have no
such file: they are read whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.records.batch.batch_header import HEADER_BYTES, MAGIC_AT, BatchHeader, read_header
from lakeward.records.batch.crc32c import checksum
from lakeward.records.ipc.arrow_message import ArrowMessage, read_message

_HEAD = struct.Struct("<4sIII")
_BATCH = struct.Struct("<qII")
_MAGIC, _VERSION = b"LWCS", 1
_CHECKED_FROM = 12
#: The file is at most this part of its segment, and a little more for short ones.
_SHARE = 64
_FREE_BYTES = 4096


class BatchSums(NamedTuple):
    """One batch: where it begins, its bytes up to the body, and a checksum for each buffer of the body."""

    position: int
    head: memoryview
    header: BatchHeader
    sums: tuple[int, ...]

    @property
    def end(self) -> int:
        """Where the next batch begins."""
        return self.position + self.header.size


def sums_bytes_max(segment_bytes: int) -> int:
    """The most that the sums of a segment take."""
    return segment_bytes // _SHARE + _FREE_BYTES


class SumsBuilder:
    """Takes the batches of a segment in order; they were checked before."""

    def __init__(self, segment_bytes: int) -> None:
        self._bytes_max = sums_bytes_max(segment_bytes)
        self._parts: list[bytes] = []
        self._bytes = _HEAD.size
        self._count = 0
        self._is_worth_it = True

    def add(self, position: int, data: memoryview, header: BatchHeader) -> None:
        """One batch, all of its bytes."""
        if not self._is_worth_it:
            return
        found = _sum_buffers(data, header)
        if found is None:
            self._give_up()
            return
        head_bytes, sums = found
        part = b"".join(
            [_BATCH.pack(position, head_bytes, len(sums)), data[:head_bytes], struct.pack(f"<{len(sums)}I", *sums)]
        )
        self._parts.append(part)
        self._bytes += len(part)
        self._count += 1
        if self._bytes > self._bytes_max:
            self._give_up()

    def _give_up(self) -> None:
        self._is_worth_it = False
        self._parts.clear()

    def to_bytes(self) -> bytes | None:
        """The file; None where the segment is to have none."""
        if not self._parts:
            return None
        rest = b"".join([struct.pack("<I", self._count), *self._parts])
        return _MAGIC + struct.pack("<II", _VERSION, checksum(rest)) + rest


def _sum_buffers(data: memoryview, header: BatchHeader) -> tuple[int, list[int]] | None:
    """Bytes of the head and sums of the buffers; None for a batch whose columns nobody can tell apart."""
    if not header.record_count:
        return len(data), []
    if not header.append_only:
        return None
    try:
        message = read_message(data, header.header_bytes + header.statistics_length, len(data))
    except CorruptError:
        return None
    ends = buffer_ends(message)
    if any(start > stop for start, stop in pairwise(ends)) or ends[0] < 0:
        return None
    body = data[message.body_at :]
    return message.body_at, [checksum(body[start:stop]) for start, stop in pairwise(ends)]


def buffer_ends(message: ArrowMessage) -> list[int]:
    """Where each buffer begins, counted from the body, and where the last one ends."""
    return [*message.buffers[::2], message.body_bytes]


def read_sums(data: memoryview, start_offset: int, end_offset: int, size_bytes: int) -> list[BatchSums]:
    """The batches of a segment; CORRUPT_RECORD unless they are all of it, in order."""
    if len(data) < _HEAD.size:
        raise _damage_error("it is cut off")
    magic, version, crc, count = _HEAD.unpack_from(data, 0)
    if (magic, version) != (_MAGIC, _VERSION) or checksum(data[_CHECKED_FROM:]) != crc:
        raise _damage_error("its checksum is wrong")
    try:
        found = list(_batches(data, count))
    except (struct.error, IndexError) as wrong:
        raise _damage_error(str(wrong)) from wrong
    position, offset = 0, start_offset
    for one in found:
        if one.position != position or one.header.base_offset != offset:
            raise _damage_error("its batches do not follow each other")
        position, offset = one.end, one.header.last_offset + 1
    if (position, offset) != (size_bytes, end_offset):
        raise _damage_error("it is of another segment")
    return found


def _batches(data: memoryview, count: int) -> Iterator[BatchSums]:
    at = _HEAD.size
    for _ in range(count):
        position, head_bytes, sums = _BATCH.unpack_from(data, at)
        at += _BATCH.size
        head = data[at : at + head_bytes]
        if len(head) < head_bytes or head_bytes < HEADER_BYTES[head[MAGIC_AT]]:
            raise IndexError("a head is cut off")
        at += head_bytes
        yield BatchSums(position, head, read_header(head), struct.unpack_from(f"<{sums}I", data, at))
        at += 4 * sums


def _damage_error(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The sums of a segment's columns are damaged: {what}.")
