"""The statistics block of a batch: null count, minimum and maximum of some columns.

version:u8 = 1 | n:i16 | n × position:i16 | n × null count:i32
| bytes of the minima:i32 | minima, an aligned row of n columns
| bytes of the maxima:i32 | maxima, an aligned row of n columns
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.row import aligned_row
from lakeward.records.row.row_codec import slice_of

STATISTICS_VERSION = 1
STATISTICS_TYPES = frozenset(TypeRoot) - {TypeRoot.BINARY, TypeRoot.BYTES, TypeRoot.ARRAY, TypeRoot.MAP, TypeRoot.ROW}
"""Types that `table.statistics.columns` may name."""

_HEAD = struct.Struct("<Bh")
_LENGTH = struct.Struct("<i")


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of one column of a batch. No minimum or maximum: all NULL, or not collected."""

    position: int
    null_count: int
    minimum: Any
    maximum: Any


def encode_statistics(columns: Sequence[ColumnStatistics], types: Sequence[DataType]) -> bytes:
    """The block for these columns; `types` are those of the batch's whole schema. No columns: no bytes."""
    if not columns:
        return b""
    count = len(columns)
    own_types = tuple(types[c.position] for c in columns)
    codec = aligned_row.codec(own_types)
    minima = codec.encode([c.minimum for c in columns])
    maxima = codec.encode([c.maximum for c in columns])
    return b"".join(
        (
            _HEAD.pack(STATISTICS_VERSION, count),
            struct.pack(f"<{count}h", *(c.position for c in columns)),
            struct.pack(f"<{count}i", *(c.null_count for c in columns)),
            _LENGTH.pack(len(minima)),
            minima,
            _LENGTH.pack(len(maxima)),
            maxima,
        )
    )


def parse_statistics(block: bytes | memoryview, types: Sequence[DataType]) -> tuple[ColumnStatistics, ...] | None:
    """The columns of a block; None when there is none or it is of a later version. CORRUPT_RECORD when damaged."""
    data = bytes(block)
    if not data or data[0] != STATISTICS_VERSION:
        return None
    try:
        return _parse(data, types)
    except (struct.error, IndexError) as wrong:
        raise ErrorCode.CORRUPT_RECORD.error(
            f"The statistics block of {len(data)} bytes is damaged: {wrong}"
        ) from wrong


def _parse(data: bytes, types: Sequence[DataType]) -> tuple[ColumnStatistics, ...] | None:
    _, count = _HEAD.unpack_from(data)
    if count <= 0:
        return None
    at = _HEAD.size
    positions = struct.unpack_from(f"<{count}h", data, at)
    at += 2 * count
    null_counts = struct.unpack_from(f"<{count}i", data, at)
    at += 4 * count
    if min(positions) < 0:
        raise IndexError(f"there is no column {min(positions)}")
    codec = aligned_row.AlignedRow([types[p] for p in positions])
    minima_raw, at = _take(data, at)
    maxima_raw, _ = _take(data, at)
    minima, maxima = codec.decode(minima_raw), codec.decode(maxima_raw)
    return tuple(map(ColumnStatistics, positions, null_counts, minima, maxima))


def _take(data: bytes, at: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(data, at)
    at += _LENGTH.size
    return slice_of(data, at, length), at + length
