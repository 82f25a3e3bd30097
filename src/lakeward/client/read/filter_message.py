"""A predicate, as a fetch carries it to the server."""

from __future__ import annotations

from typing import Any

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.values import DECIMAL_COMPACT_DIGITS_MAX, unscaled_of
from lakeward.protocol.messages.log import PbCompoundPredicate, PbLeafPredicate, PbLiteralValue, PbPredicate
from lakeward.records.batch.predicate import Compound, Leaf, Predicate

_LEAF, _COMPOUND = 0, 1
_DIGITS_MAX = 38
#: What a literal is, as the wire numbers it, and the field that holds it.
_LITERALS = {
    TypeRoot.BOOLEAN: (0, "boolean_value"),
    TypeRoot.TINYINT: (1, "int_value"),
    TypeRoot.SMALLINT: (2, "int_value"),
    TypeRoot.INTEGER: (3, "int_value"),
    TypeRoot.BIGINT: (4, "bigint_value"),
    TypeRoot.FLOAT: (5, "float_value"),
    TypeRoot.DOUBLE: (6, "double_value"),
    TypeRoot.CHAR: (7, "string_value"),
    TypeRoot.STRING: (8, "string_value"),
    TypeRoot.DECIMAL: (9, "decimal_value"),
    TypeRoot.DATE: (10, "bigint_value"),
    TypeRoot.TIME: (11, "int_value"),
    TypeRoot.TIMESTAMP: (12, "timestamp_millis_value"),
    TypeRoot.TIMESTAMP_LTZ: (13, "timestamp_millis_value"),
    TypeRoot.BINARY: (14, "binary_value"),
    TypeRoot.BYTES: (15, "binary_value"),
}


def filter_message(predicate: Predicate, schema: Schema) -> PbPredicate:
    """The predicate with its literals in the types of the schema's columns."""
    return _message(predicate, {column.id: column.type for column in schema.columns})


def _message(predicate: Predicate, types: dict[int, DataType]) -> PbPredicate:
    if isinstance(predicate, Leaf):
        literals = tuple(_literal(value, types[predicate.column_id]) for value in predicate.literals)
        leaf = PbLeafPredicate(function=int(predicate.function), field_id=predicate.column_id, literals=literals)
        return PbPredicate(type=_LEAF, leaf=leaf)
    assert isinstance(predicate, Compound)
    children = tuple(_message(child, types) for child in predicate.children)
    return PbPredicate(type=_COMPOUND, compound=PbCompoundPredicate(function=int(predicate.joint), children=children))


def _literal(value: Any, type_: DataType) -> PbLiteralValue:
    number, field = _LITERALS[type_.root]
    if value is None:
        return PbLiteralValue(literal_type=number, is_null=True)
    fields: dict[str, Any] = {field: value}
    if type_.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        fields = {field: value.epoch_ms, "timestamp_nano_of_millis_value": value.nano_of_ms}
    elif type_.root is TypeRoot.DECIMAL:
        fields = _decimal(value, type_)
    return PbLiteralValue(literal_type=number, is_null=False, **fields)


def _decimal(value: Any, type_: DataType) -> dict[str, Any]:
    assert type_.precision is not None
    assert type_.scale is not None
    unscaled = unscaled_of(value, _DIGITS_MAX, type_.scale)
    if type_.precision <= DECIMAL_COMPACT_DIGITS_MAX:
        return {"decimal_value": unscaled}
    return {"decimal_bytes": unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)}
