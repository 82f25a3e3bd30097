"""Arrow columns as the parts of a key that kernels can write: numbers, fixed bytes, runs of bytes.

    Words   each value a variable-length integer
    FixedWidth   each value w bytes
    Runs    each value a stretch of one buffer, with its length in front or not

Nothing here looks at single rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import DECIMAL_COMPACT_DIGITS_MAX, TIMESTAMP_COMPACT_PRECISION_MAX

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

DECIMAL_BYTES = 16
_NANOS_PER_UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_NANOS_PER_MILLI = 1_000_000
_INTEGERS: dict[TypeRoot, Any] = {
    TypeRoot.TINYINT: np.int8,
    TypeRoot.SMALLINT: np.int16,
    TypeRoot.INTEGER: np.int32,
    TypeRoot.DATE: np.int32,
    TypeRoot.BIGINT: np.int64,
}
_TEXTS = {TypeRoot.CHAR, TypeRoot.STRING, TypeRoot.BYTES}


class Words(NamedTuple):
    """Values to be written as variable-length integers."""

    values: U64


class FixedWidth(NamedTuple):
    """Values of w bytes each, as n × w."""

    rows: U8


class Runs(NamedTuple):
    """Values that are stretches of one buffer."""

    starts: I64
    lengths: I64
    data: U8
    prefixed: bool


Part = Words | FixedWidth | Runs


def integers(array: pa.Array, type_: DataType) -> NDArray[Any]:
    """A column of whole numbers as the format counts them: TIME in milliseconds, DECIMAL unscaled."""
    match type_.root:
        case TypeRoot.BOOLEAN:
            return _buffer(array.cast(pa.uint8()), np.uint8)
        case TypeRoot.TIME:
            unit = _buffer(array, np.int32 if array.type.bit_width == 32 else np.int64).astype(np.int64)
            return (unit * _NANOS_PER_UNIT[array.type.unit] // _NANOS_PER_MILLI).astype(np.int32)
        case TypeRoot.DECIMAL:
            return np.ascontiguousarray(_buffer(array, np.int64, per_value=2)[::2])
        case root:
            return _buffer(array, _INTEGERS[root])


def timestamps(array: pa.Array) -> tuple[I64, NDArray[np.uint32]]:
    """Milliseconds since the epoch and the nanoseconds within each."""
    units = _buffer(array, np.int64)
    per_unit = _NANOS_PER_UNIT[array.type.unit]
    if per_unit >= _NANOS_PER_MILLI:
        return units * (per_unit // _NANOS_PER_MILLI), np.zeros(len(units), np.uint32)
    per_milli = _NANOS_PER_MILLI // per_unit
    millis = units // per_milli
    return millis, ((units - millis * per_milli) * per_unit).astype(np.uint32)


def floats(array: pa.Array, type_: DataType) -> NDArray[Any]:
    """Floating point numbers with one bit pattern for NaN."""
    values = _buffer(array, np.float32 if type_.root is TypeRoot.FLOAT else np.float64).copy()
    values[np.isnan(values)] = np.nan
    return values


def big_decimals(array: pa.Array) -> U8:
    """Unscaled numbers as 16 bytes each, lowest first."""
    return np.ascontiguousarray(_buffer(array, np.uint8, per_value=DECIMAL_BYTES)).reshape(-1, DECIMAL_BYTES)


def runs(array: pa.Array, type_: DataType, *, prefixed: bool) -> Runs:
    """Text or bytes as stretches of the column's own buffer."""
    if type_.root is TypeRoot.BINARY:
        assert type_.length is not None
        width = type_.length
        starts = (np.arange(len(array), dtype=np.int64) + array.offset) * width
        return Runs(starts, np.full(len(array), width, np.int64), _bytes(array.buffers()[1]), prefixed)
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return Runs(offsets[:-1].copy(), np.diff(offsets), _bytes(array.buffers()[2]), prefixed)


def as_bytes(values: NDArray[Any], width: int | None = None) -> U8:
    """Numbers as rows of little-endian bytes, widened with zeros when asked."""
    own = values.dtype.itemsize
    rows = np.zeros((len(values), width or own), np.uint8)
    rows[:, :own] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, own)
    return rows


def is_compact(type_: DataType) -> bool:
    """Whether a DECIMAL or TIMESTAMP is stored as one 64-bit integer."""
    assert type_.precision is not None
    most = DECIMAL_COMPACT_DIGITS_MAX if type_.root is TypeRoot.DECIMAL else TIMESTAMP_COMPACT_PRECISION_MAX
    return type_.precision <= most


def is_text(type_: DataType) -> bool:
    """Whether values are text or bytes."""
    return type_.root in _TEXTS or type_.root is TypeRoot.BINARY


def words(values: NDArray[Any]) -> Words:
    """Signed numbers as the unsigned ones of their width."""
    return Words(values.view(f"u{values.dtype.itemsize}").astype(np.uint64))


def _buffer(array: pa.Array, dtype: Any, per_value: int = 1) -> NDArray[Any]:
    whole = np.frombuffer(array.buffers()[1], dtype)
    return whole[array.offset * per_value : (array.offset + len(array)) * per_value]


def _bytes(buffer: pa.Buffer | None) -> U8:
    data = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
    data.flags.writeable = False  # one kind of array, so that one compiled kernel serves all
    return data
