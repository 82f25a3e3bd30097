"""Whether the values of Arrow columns are what their types say: offsets in order, texts in UTF-8, numbers in range.

`Array.validate(full=True)` knows all of that, and takes as long as the rest of a scan. So columns are first looked at
as a whole, by what is quick and can only err to the strict side; those that do not pass are left to Arrow's judgement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_ASCII_END = 0x80
#: So few are judged by Arrow at once: sooner done than a look at each column.
_FEW_ROWS = 64
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]


def check_values(rows: pa.RecordBatch, *, in_range: bool = True) -> None:
    """Raise pyarrow.ArrowInvalid at values that are none of their column's type; the structure was checked before.

    Changes of a primary key table may hold sums with more digits than their column has, as with Apache Fluss: there
    numbers are not held to their range.
    """
    if in_range and rows.num_rows <= _FEW_ROWS and _is_valid(rows):
        return
    for field, column in zip(rows.schema, rows.columns, strict=True):
        if not in_range and (pa.types.is_decimal(field.type) or pa.types.is_time(field.type)):
            continue
        if not _is_good(column):
            try:
                column.validate(full=True)
            except pa.ArrowInvalid as wrong:
                raise pa.ArrowInvalid(f"column {field.name} of type {field.type}: {wrong}") from None


def _is_valid(rows: pa.RecordBatch) -> bool:
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_good(column: pa.Array) -> bool:
    """Whether a column is surely good; False leaves it open."""
    count, kind = len(column), column.type
    if not count or pa.types.is_nested(kind) or pa.types.is_decimal(kind):
        return False
    validity, *rest = column.buffers()
    if not _nulls_are_right(column, validity):
        return False
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        offsets: I32 = np.frombuffer(rest[0], np.int32, count + 1)
        data: U8 = np.frombuffer(rest[1] or b"", np.uint8)
        return _are_in_order(offsets, len(data)) and (pa.types.is_binary(kind) or _is_ascii(data))
    if pa.types.is_time(kind):
        width: Any = np.int32 if kind.bit_width == 32 else np.int64
        times: NDArray[Any] = np.frombuffer(rest[0], width, count)
        return bool(times.min() >= 0 and times.max() < _PER_DAY[kind.unit])
    return True


def _nulls_are_right(column: pa.Array, validity: pa.Buffer | None) -> bool:
    if validity is None:
        return not column.null_count
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), count=len(column), bitorder="little")
    return bool(len(column) - int(np.count_nonzero(bits)) == column.null_count)


def _are_in_order(offsets: I32, end: int) -> bool:
    return bool(offsets[0] >= 0 and offsets[-1] <= end and (offsets[1:] >= offsets[:-1]).all())


def _is_ascii(data: U8) -> bool:
    return not len(data) or bool(data.max() < _ASCII_END)
