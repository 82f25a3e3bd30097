"""Columns → the schema of a record, as other systems write it: what may be NULL is a union with null first."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_type

_PLAIN = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "int",
    TypeRoot.SMALLINT: "int",
    TypeRoot.INTEGER: "int",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.CHAR: "string",
    TypeRoot.STRING: "string",
    TypeRoot.BYTES: "bytes",
    TypeRoot.BINARY: "bytes",
}
_MICROS_PRECISION = 6
_MILLIS_PRECISION = 3


def record_of(schema: Schema, *, legacy_times: bool) -> dict[str, Any]:
    """The schema of a row."""
    fields = [(column.name, column.type) for column in schema.columns]
    return _record("record", fields, legacy_times=legacy_times)


def count_type(type_: DataType) -> pa.DataType:
    """The Arrow type in which times are the numbers that Avro writes."""
    match type_.root:
        case TypeRoot.DATE | TypeRoot.TIME:
            return pa.int32()
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return pa.int64()
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return pa.list_(count_type(type_.element))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return pa.map_(count_type(type_.key), count_type(type_.value))
        case TypeRoot.ROW:
            return pa.struct([(field.name, count_type(field.type)) for field in type_.fields])
        case _:
            return arrow_type(type_)


def _record(name: str, fields: list[tuple[str, DataType]], *, legacy_times: bool) -> dict[str, Any]:
    made = []
    for field, type_ in fields:
        avro = _type(type_, f"{name}_{field}", legacy_times=legacy_times)
        made.append({"name": field, "type": avro} | ({"default": None} if type_.nullable else {}))
    return {"type": "record", "name": name, "namespace": "lakeward.avro", "fields": made}


def _type(type_: DataType, path: str, *, legacy_times: bool) -> Any:
    avro = _inner(type_, path, legacy_times=legacy_times)
    return ["null", avro] if type_.nullable else avro


def _inner(type_: DataType, path: str, *, legacy_times: bool) -> Any:
    match type_.root:
        case TypeRoot.DECIMAL:
            return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale or 0}
        case TypeRoot.DATE:
            return {"type": "int", "logicalType": "date"}
        case TypeRoot.TIME:
            return {"type": "int", "logicalType": "time-millis"}
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return {"type": "long", "logicalType": _moment(type_, path, legacy_times=legacy_times)}
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return {"type": "array", "items": _type(type_.element, path, legacy_times=legacy_times)}
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            if type_.key.root not in {TypeRoot.STRING, TypeRoot.CHAR}:
                raise _refusal(path, type_, "its keys are not texts")
            return {"type": "map", "values": _type(type_.value, path, legacy_times=legacy_times)}
        case TypeRoot.ROW:
            fields = [(field.name, field.type) for field in type_.fields]
            return _record(path, fields, legacy_times=legacy_times)
        case root:
            return _PLAIN[root]


def _moment(type_: DataType, path: str, *, legacy_times: bool) -> str:
    precision = type_.precision or 0
    if precision > _MICROS_PRECISION:
        raise _refusal(path, type_, "it has microseconds at most")
    is_local = type_.root is TypeRoot.TIMESTAMP and not legacy_times
    unit = "millis" if precision <= _MILLIS_PRECISION else "micros"
    return f"local-timestamp-{unit}" if is_local else f"timestamp-{unit}"


def _refusal(path: str, type_: DataType, why: str) -> Exception:
    name = path.removeprefix("record_")
    return ErrorCode.INVALID_TABLE.error(f"Column '{name}' is of type {type_}, which Avro cannot hold: {why}.")
