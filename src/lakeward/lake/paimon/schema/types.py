"""Column types → Paimon types, and Arrow rows → the rows of a data file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from lakeward.lake.rows.system_columns import BUCKET, OFFSET, TIMESTAMP
from lakeward.model.data_types import BIGINT, INT, TIMESTAMP_LTZ, DataType, RowField, TypeRoot

#: As Apache Fluss's coordinator creates them: they may be NULL, and moments are kept to the millisecond.
SYSTEM_TYPES: tuple[tuple[str, DataType], ...] = ((BUCKET, INT()), (OFFSET, BIGINT()), (TIMESTAMP, TIMESTAMP_LTZ(3)))

_MILLIS_DIGITS, _MICROS_DIGITS = 3, 6
_ID = b"PARQUET:field_id"
#: Column types whose Arrow type in a data file is not the one that users see.
_IN_FILES = {
    TypeRoot.BOOLEAN: pa.bool_(),
    TypeRoot.TINYINT: pa.int8(),
    TypeRoot.SMALLINT: pa.int16(),
    TypeRoot.INTEGER: pa.int32(),
    TypeRoot.BIGINT: pa.int64(),
    TypeRoot.FLOAT: pa.float32(),
    TypeRoot.DOUBLE: pa.float64(),
    TypeRoot.CHAR: pa.string(),
    TypeRoot.STRING: pa.string(),
    TypeRoot.BINARY: pa.binary(),
    TypeRoot.BYTES: pa.binary(),
    TypeRoot.DATE: pa.date32(),
    TypeRoot.TIME: pa.time32("ms"),
}


def paimon_type(type_: DataType, ids: Iterator[int]) -> Any:
    """The type as a schema file writes it; fields of a ROW take their ids from `ids`."""
    end = "" if type_.nullable else " NOT NULL"
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return {"type": f"ARRAY{end}", "element": paimon_type(type_.element, ids)}
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return {"type": f"MAP{end}", "key": paimon_type(type_.key, ids), "value": paimon_type(type_.value, ids)}
        case TypeRoot.ROW:
            return {"type": f"ROW{end}", "fields": [_row_field(f, ids) for f in type_.fields]}
        case TypeRoot.TIMESTAMP_LTZ:
            return f"TIMESTAMP({type_.precision}) WITH LOCAL TIME ZONE{end}"
        case _:
            return str(type_)


def _row_field(field: RowField, ids: Iterator[int]) -> dict[str, Any]:
    found = {"id": next(ids), "name": field.name, "type": paimon_type(field.type, ids)}
    return found if field.description is None else found | {"description": field.description}


def file_type(type_: DataType) -> pa.DataType:
    """The Arrow type of a column in a data file; Parquet then stores what Paimon's readers expect."""
    match type_.root:
        case TypeRoot.DECIMAL:
            return pa.decimal128(type_.precision, type_.scale)
        case TypeRoot.TIMESTAMP:
            return pa.timestamp(_unit(type_))
        case TypeRoot.TIMESTAMP_LTZ:
            return pa.timestamp(_unit(type_), tz="UTC")
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return pa.list_(pa.field("element", file_type(type_.element), nullable=type_.element.nullable))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            value = pa.field("value", file_type(type_.value), nullable=type_.value.nullable)
            return pa.map_(pa.field("key", file_type(type_.key), nullable=False), value)
        case TypeRoot.ROW:
            return pa.struct([pa.field(f.name, file_type(f.type), nullable=f.type.nullable) for f in type_.fields])
        case root:
            return _IN_FILES[root]


def file_field(number: int, name: str, type_: DataType) -> pa.Field:
    """A column of a data file, with its id."""
    return pa.field(name, file_type(type_), nullable=type_.nullable, metadata={_ID: str(number).encode()})


def needs_int96(types: Sequence[DataType]) -> bool:
    """Whether moments are so fine that Paimon keeps them in Parquet's oldest form."""
    return any(_is_fine(type_) for type_ in types)


def _unit(type_: DataType) -> str:
    digits = type_.precision or 0
    return "ms" if digits <= _MILLIS_DIGITS else "us" if digits <= _MICROS_DIGITS else "ns"


def _is_fine(type_: DataType) -> bool:
    if type_.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        return (type_.precision or 0) > _MICROS_DIGITS
    inner = [t for t in (type_.element, type_.key, type_.value, *(f.type for f in type_.fields)) if t is not None]
    return any(_is_fine(t) for t in inner)
