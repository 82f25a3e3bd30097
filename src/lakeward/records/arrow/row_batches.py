"""Row-formatted log payloads (INDEXED and COMPACTED): one entry per record.

    length:i32, the bytes after it | change type:i8 | row

Arrow ↔ rows is in `arrow_rows`, apart, because the server never loads Arrow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from lakeward.errors import ErrorCode

APPEND_ONLY = 0
CHANGE_TYPE_MAX = 4
_HEAD = struct.Struct("<ib")
_TYPE_BYTES = 1


def encode_records(rows: Iterable[bytes | memoryview], change_types: Sequence[int] | None = None) -> bytes:
    """The payload of these rows; without change types they are appends."""
    out = bytearray()
    pairs = zip(rows, repeat(APPEND_ONLY)) if change_types is None else zip(rows, change_types, strict=True)
    for row, change_type in pairs:
        out += _HEAD.pack(len(row) + _TYPE_BYTES, change_type)
        out += row
    return bytes(out)


def records_of(payload: bytes | memoryview, record_count: int) -> Iterator[tuple[int, memoryview]]:
    """Change type and row bytes of each record; CORRUPT_RECORD when the payload does not hold this many."""
    view = memoryview(payload)
    at = 0
    for i in range(record_count):
        if at + _HEAD.size > len(view):
            raise ErrorCode.CORRUPT_RECORD.error(f"The batch ends before record {i} of {record_count}.")
        length, change_type = _HEAD.unpack_from(view, at)
        end = at + _HEAD.size - _TYPE_BYTES + length
        if length < _TYPE_BYTES or end > len(view):
            raise ErrorCode.CORRUPT_RECORD.error(
                f"Record {i} of {record_count} claims {length} bytes; there are fewer."
            )
        if not 0 <= change_type <= CHANGE_TYPE_MAX:
            raise ErrorCode.CORRUPT_RECORD.error(f"Record {i} of {record_count} has change type {change_type}.")
        yield change_type, view[at + _HEAD.size : end]
        at = end
    if at != len(view):
        raise ErrorCode.CORRUPT_RECORD.error(f"{len(view) - at} bytes follow the {record_count} records of the batch.")
