"""Column types ↔ Arrow types, and any Arrow data made to fit a table.

`arrow_schema` is what users see of a table; `conform` is what every append goes through.
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BINARY,
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    MAP,
    ROW,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    DataType,
    TypeRoot,
)
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow import arrow_casts

DECIMAL_DIGITS_MAX = 38
_UNIT_OF_PRECISION = ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")
_PRECISION_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}

_ARROW_OF_ROOT = {
    TypeRoot.BOOLEAN: pa.bool_(),
    TypeRoot.TINYINT: pa.int8(),
    TypeRoot.SMALLINT: pa.int16(),
    TypeRoot.INTEGER: pa.int32(),
    TypeRoot.BIGINT: pa.int64(),
    TypeRoot.FLOAT: pa.float32(),
    TypeRoot.DOUBLE: pa.float64(),
    TypeRoot.CHAR: pa.string(),
    TypeRoot.STRING: pa.string(),
    TypeRoot.BYTES: pa.binary(),
    TypeRoot.DATE: pa.date32(),
}

# Unsigned integers widen to the next signed type, so that no value is lost.
_TYPE_OF_ARROW = {
    pa.bool_(): BOOLEAN(),
    pa.int8(): TINYINT(),
    pa.int16(): SMALLINT(),
    pa.int32(): INT(),
    pa.int64(): BIGINT(),
    pa.uint8(): SMALLINT(),
    pa.uint16(): INT(),
    pa.uint32(): BIGINT(),
    pa.float16(): FLOAT(),
    pa.float32(): FLOAT(),
    pa.float64(): DOUBLE(),
    pa.string(): STRING(),
    pa.large_string(): STRING(),
    pa.string_view(): STRING(),
    pa.binary(): BYTES(),
    pa.large_binary(): BYTES(),
    pa.binary_view(): BYTES(),
    pa.date32(): DATE(),
    pa.date64(): DATE(),
}

_HINTS = {
    pa.null(): "it holds only NULLs; give it a type, for example with column.cast(pyarrow.string())",
    pa.uint64(): "cast it to int64, or to decimal128(20, 0) when values exceed 2**63",
}

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


def arrow_type(type_: DataType) -> pa.DataType:
    """The Arrow type of a column type. TIMESTAMP_LTZ shows its zone, UTC; the bytes on the wire are the same."""
    match type_.root:
        case TypeRoot.BINARY:
            return pa.binary(type_.length)
        case TypeRoot.DECIMAL:
            return pa.decimal128(type_.precision, type_.scale)
        case TypeRoot.TIME:
            unit = _UNIT_OF_PRECISION[type_.precision or 0]
            return pa.time32(unit) if unit in {"s", "ms"} else pa.time64(unit)
        case TypeRoot.TIMESTAMP:
            return pa.timestamp(_UNIT_OF_PRECISION[type_.precision or 0])
        case TypeRoot.TIMESTAMP_LTZ:
            return pa.timestamp(_UNIT_OF_PRECISION[type_.precision or 0], tz="UTC")
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return pa.list_(_field("element", type_.element))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return pa.map_(_field("key", type_.key.not_null()), _field("value", type_.value))
        case TypeRoot.ROW:
            return pa.struct([_field(f.name, f.type) for f in type_.fields])
        case root:
            return _ARROW_OF_ROOT[root]


def arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema users see of a table."""
    return pa.schema([_field(c.name, c.type) for c in schema.columns])


def _field(name: str, type_: DataType) -> pa.Field:
    return pa.field(name, arrow_type(type_), nullable=type_.nullable)


def data_type(arrow: pa.DataType, nullable: bool = True) -> DataType:
    """The column type that holds every value of an Arrow type; refuses types without a counterpart."""
    found = _data_type(arrow)
    return found if nullable else found.not_null()


def _data_type(arrow: pa.DataType) -> DataType:
    plain = _TYPE_OF_ARROW.get(arrow)
    if plain is not None:
        return plain
    types = pa.types
    if types.is_dictionary(arrow) or types.is_run_end_encoded(arrow):
        return _data_type(arrow.value_type)
    if types.is_decimal(arrow) and 0 <= arrow.scale <= arrow.precision <= DECIMAL_DIGITS_MAX:
        return DECIMAL(arrow.precision, arrow.scale)
    if types.is_fixed_size_binary(arrow):
        return BINARY(arrow.byte_width)
    if types.is_time(arrow):
        return TIME(_PRECISION_OF_UNIT[arrow.unit])
    if types.is_timestamp(arrow):
        precision = _PRECISION_OF_UNIT[arrow.unit]
        return TIMESTAMP(precision) if arrow.tz is None else TIMESTAMP_LTZ(precision)
    if types.is_map(arrow):
        return MAP(_data_type(arrow.key_type), data_type(arrow.item_type, arrow.item_field.nullable))
    if types.is_struct(arrow):
        return ROW([(field.name, data_type(field.type, field.nullable)) for field in arrow])
    if arrow_casts.is_list(arrow):
        return ARRAY(data_type(arrow.value_type, arrow.value_field.nullable))
    if isinstance(arrow, pa.BaseExtensionType):
        return _data_type(arrow.storage_type)
    hint = _HINTS.get(arrow, "cast it to a supported type, or leave the column out")
    raise ErrorCode.INVALID_TABLE.error(f"Arrow type {arrow} has no counterpart as a column type: {hint}.")


def schema_of_arrow(arrow: pa.Schema) -> Schema:
    """A table schema that holds data of an Arrow schema; a refusal names the column."""
    columns = []
    for field in arrow:
        try:
            columns.append(Column(field.name, data_type(field.type, field.nullable)))
        except ErrorCode.INVALID_TABLE.kind as wrong:
            raise ErrorCode.INVALID_TABLE.error(f"Column '{field.name}': {wrong}") from wrong
    return Schema.of(columns)


def conform(rows: Rows, schema: Schema, target: pa.Schema | None = None) -> Rows:
    """The same rows with the table's columns in the table's order and types.

    Columns are matched by name; missing nullable ones become NULL. Unknown columns, NULLs in NOT NULL columns and
    values that would be changed are refused with the column's name. `target` is `arrow_schema(schema)`, if at hand.
    """
    target = target or arrow_schema(schema)
    if not rows.schema.equals(target):
        _check_names(rows.schema.names, schema)
    present = {name: i for i, name in enumerate(rows.schema.names)}
    columns = []
    for column, field in zip(schema.columns, target, strict=True):
        if column.name in present:
            values = arrow_casts.cast(rows.column(present[column.name]), field.type, column.name, column.type)
        else:
            values = pa.nulls(rows.num_rows, field.type)
        arrow_casts.check_nulls(values, field, column.name)
        arrow_casts.check_times(values, column.type, column.name)
        columns.append(values)
    made = pa.RecordBatch if isinstance(rows, pa.RecordBatch) else pa.Table
    result: Rows = made.from_arrays(columns, schema=target)
    return result


def check_distinct(names: list[str]) -> None:
    """Refuse data that has a column twice: nobody can tell which of them is meant."""
    if len(set(names)) < len(names):
        doubled = sorted({n for n in names if names.count(n) > 1})
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"The data has column {_in_quotes(doubled)} more than once.")


def _check_names(names: list[str], schema: Schema) -> None:
    known = set(schema.names)
    unknown = [n for n in names if n not in known]
    if unknown:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"The table has no column {_in_quotes(unknown)}; its columns are {_in_quotes(schema.names)}."
        )
    check_distinct(names)
    missing = [c.name for c in schema.columns if c.name not in names and not c.type.nullable]
    if missing:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"The data lacks column {_in_quotes(missing)}, which is NOT NULL.")


def _in_quotes(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"'{n}'" for n in names)
