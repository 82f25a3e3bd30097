"""A fetch's filter, from the wire to the predicate that batches are judged by."""

from __future__ import annotations

import enum
from decimal import Decimal
from typing import Any

from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.values import Timestamp, decimal_of
from lakeward.protocol.messages.log import PbLiteralValue, PbPredicate
from lakeward.records.batch.predicate import Compound, Function, Joint, Leaf, Predicate

_DIGITS_MAX = 38


class _Literal(enum.IntEnum):
    """What a literal is; the number is the wire's."""

    BOOLEAN = 0
    TINYINT = 1
    SMALLINT = 2
    INT = 3
    BIGINT = 4
    FLOAT = 5
    DOUBLE = 6
    CHAR = 7
    STRING = 8
    DECIMAL = 9
    DATE = 10
    TIME = 11
    TIMESTAMP = 12
    TIMESTAMP_LTZ = 13
    BINARY = 14
    BYTES = 15


def predicate_of(message: PbPredicate | None, schema: Schema | None) -> Predicate | None:
    """The predicate of a fetch, or None: a filter that is not understood filters nothing."""
    if message is None or schema is None:
        return None
    try:
        return _predicate(message, {column.id: column.type.scale for column in schema.columns if _is_decimal(column)})
    except (ValueError, TypeError, ArithmeticError):
        return None


def _is_decimal(column: Any) -> bool:
    return bool(column.type.root is TypeRoot.DECIMAL)


def _predicate(message: PbPredicate, scales: dict[int, int | None]) -> Predicate:
    if message.leaf is not None:
        leaf = message.leaf
        scale = scales.get(leaf.field_id)
        return Leaf(Function(leaf.function), leaf.field_id, tuple(_literal(one, scale) for one in leaf.literals))
    if message.compound is None:
        raise ValueError("neither leaf nor compound")
    children = tuple(_predicate(child, scales) for child in message.compound.children)
    return Compound(Joint(message.compound.function), children)


def _literal(message: PbLiteralValue, scale: int | None) -> Any:
    if message.is_null:
        return None
    match _Literal(message.literal_type):
        case _Literal.BOOLEAN:
            return message.boolean_value
        case _Literal.TINYINT | _Literal.SMALLINT | _Literal.INT | _Literal.TIME:
            return message.int_value
        case _Literal.BIGINT | _Literal.DATE:
            return message.bigint_value
        case _Literal.FLOAT:
            return message.float_value
        case _Literal.DOUBLE:
            return message.double_value
        case _Literal.CHAR | _Literal.STRING:
            return message.string_value
        case _Literal.DECIMAL:
            return _decimal(message, scale)
        case _Literal.TIMESTAMP | _Literal.TIMESTAMP_LTZ:
            if message.timestamp_millis_value is None:
                raise ValueError("a timestamp without a value")
            return Timestamp(message.timestamp_millis_value, message.timestamp_nano_of_millis_value or 0)
        case _:
            return message.binary_value


def _decimal(message: PbLiteralValue, scale: int | None) -> Decimal:
    if scale is None:
        raise ValueError("a decimal for a column that is none")
    if message.decimal_value is not None:
        return decimal_of(message.decimal_value, _DIGITS_MAX, scale)
    if message.decimal_bytes is None:
        raise ValueError("a decimal without a value")
    return decimal_of(int.from_bytes(message.decimal_bytes, "big", signed=True), _DIGITS_MAX, scale)
