"""Values → Paimon's binary rows, as manifests hold keys, partitions and statistics: how many columns, then the row."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import NANOS_PER_MILLI, Timestamp, of_python
from lakeward.records.row.aligned_row import decode_row, encode_row

_NANOS = {"s": 10**9, "ms": NANOS_PER_MILLI, "us": 1000, "ns": 1}
_COUNT = struct.Struct(">i")
EMPTY = _COUNT.pack(0) + bytes(8)


def of_arrow(type_: DataType, scalar: pa.Scalar) -> Any:
    """A value from Arrow. Moments and days are taken as numbers: there are more of them than Python can name."""
    if not scalar.is_valid:
        return None
    match type_.root:
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return Timestamp.of_nanos(scalar.value * _NANOS[scalar.type.unit])
        case TypeRoot.TIME:
            return scalar.value * _NANOS[scalar.type.unit] // NANOS_PER_MILLI
        case TypeRoot.DATE:
            return scalar.value
        case _:
            return of_python(type_, scalar.as_py())


def to_binary(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """A row of values, as `model.values` describes them."""
    if not types:
        return EMPTY
    return _COUNT.pack(len(types)) + encode_row([t.as_nullable() for t in types], values)


def of_binary(types: Sequence[DataType], data: bytes) -> tuple[Any, ...]:
    """The values of a row."""
    if not types:
        return ()
    return decode_row([t.as_nullable() for t in types], data[_COUNT.size :])
