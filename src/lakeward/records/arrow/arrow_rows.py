"""Arrow columns ↔ the values of `model.values`, and with them Arrow batches ↔ rows of bytes.

One value at a time: for row-formatted logs, lookups and odd types. Hot paths have kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.values import Timestamp
from lakeward.records.arrow.arrow_types import arrow_schema, arrow_type
from lakeward.records.row.row_codec import RowCodec, RowFormat

_NANOS_PER_UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_NANOS_PER_MILLI = 1_000_000


def arrow_to_rows(batch: pa.RecordBatch, schema: Schema, row_format: RowFormat) -> list[bytes]:
    """Each row of a conformed batch as bytes."""
    codec = row_format(tuple(c.type for c in schema.columns))
    columns = [values_of(batch.column(i), c.type) for i, c in enumerate(schema.columns)]
    return [codec.encode(row) for row in zip(*columns, strict=True)]


def rows_to_arrow(rows: Iterable[bytes | memoryview], schema: Schema, codec: RowCodec) -> pa.RecordBatch:
    """Rows of bytes as one batch; `codec` was made for the types of `schema`."""
    decoded = [codec.decode(row) for row in rows]
    columns = list(zip(*decoded, strict=True)) if decoded else [()] * len(schema.columns)
    arrays = [array_of(values, c.type) for values, c in zip(columns, schema.columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(schema))


def values_of(array: pa.Array, type_: DataType) -> list[Any]:
    """The values of an Arrow column."""
    if array.type != arrow_type(type_):
        array = array.cast(arrow_type(type_))
    match type_.root:
        case TypeRoot.DATE:
            return list(array.view(pa.int32()).to_pylist())
        case TypeRoot.TIME:
            per_unit = _NANOS_PER_UNIT[array.type.unit]
            return [None if v is None else v * per_unit // _NANOS_PER_MILLI for v in _integers(array)]
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            per_unit = _NANOS_PER_UNIT[array.type.unit]
            return [None if v is None else Timestamp.of_nanos(v * per_unit) for v in _integers(array)]
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return _runs(array, values_of(array.values, type_.element))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            pairs = zip(values_of(array.keys, type_.key), values_of(array.items, type_.value), strict=True)
            return _runs(array, list(pairs))
        case TypeRoot.ROW:
            parts = [values_of(p, f.type) for p, f in zip(array.flatten(), type_.fields, strict=True)]
            rows = zip(*parts, strict=True) if parts else [()] * len(array)
            return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]
        case _:
            return list(array.to_pylist())


def _integers(array: pa.Array) -> list[int | None]:
    return list(array.view(pa.int32() if array.type.bit_width == 32 else pa.int64()).to_pylist())


def _runs(array: pa.Array, inner: list[Any]) -> list[Any]:
    """Cut the values below a list or map into one tuple per row."""
    offsets = array.offsets.to_pylist()
    valid = array.is_valid().to_pylist()
    return [tuple(inner[offsets[i] : offsets[i + 1]]) if ok else None for i, ok in enumerate(valid)]


def array_of(values: Sequence[Any], type_: DataType) -> pa.Array:
    """An Arrow column of these values."""
    return array_maker(type_)(values)


def array_maker(type_: DataType) -> Callable[[Sequence[Any]], pa.Array]:
    """What makes Arrow columns of values of this type; worth keeping where columns are short."""
    convert, target = _converter(type_), arrow_type(type_)
    if convert is None:
        return lambda values: pa.array(values, target)
    return lambda values: pa.array([None if v is None else convert(v) for v in values], target)


def _converter(type_: DataType) -> Callable[[Any], Any] | None:
    """From one of our values to what pyarrow takes for the type; None when that is the same."""
    match type_.root:
        case TypeRoot.TIME:
            per_unit = _NANOS_PER_UNIT[arrow_type(type_).unit]
            return lambda ms: ms * _NANOS_PER_MILLI // per_unit
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            per_unit = _NANOS_PER_UNIT[arrow_type(type_).unit]
            return lambda timestamp: timestamp.epoch_ns // per_unit
        case TypeRoot.BINARY:
            assert type_.length is not None
            length = type_.length
            return lambda raw: raw.ljust(length, b"\0")
        case TypeRoot.ARRAY:
            assert type_.element is not None
            element = _total(type_.element)
            return lambda items: [element(v) for v in items]
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            key, value = _total(type_.key), _total(type_.value)
            return lambda pairs: [(key(k), value(v)) for k, v in pairs]
        case TypeRoot.ROW:
            fields = [(f.name, _total(f.type)) for f in type_.fields]
            return lambda row: {name: field(v) for (name, field), v in zip(fields, row, strict=True)}
        case _:
            return None


def _total(type_: DataType) -> Callable[[Any], Any]:
    """The converter that also takes None."""
    convert = _converter(type_)
    if convert is None:
        return lambda v: v
    return lambda v: None if v is None else convert(v)
