"""Types of PostgreSQL → our types. What we have no type for is text, as PostgreSQL itself would write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    BYTES,
    CHAR,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DataType,
)

#: Numbers of the built-in types; they are the same on every server.
_PLAIN = {
    16: BOOLEAN(),
    17: BYTES(),
    20: BIGINT(),
    21: SMALLINT(),
    23: INT(),
    26: BIGINT(),  # oid: 32 bits without a sign
    700: FLOAT(),
    701: DOUBLE(),
    1082: DATE(),
}
_HEAD = 4
_DIGITS_MAX, _FRACTION_MAX = 38, 6
#: Times of day are kept in milliseconds.
_TIME_FRACTION_MAX = 3


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """A type of the catalog: what it is made of."""

    oid: int
    #: Of a domain: its base type and modifier.
    base: int = 0
    modifier: int = -1
    #: Of an array: the type of its items.
    element: int = 0


def data_type(oid: int, modifier: int, known: Mapping[int, TypeInfo]) -> DataType:
    """Our type for one of theirs; `known` has the types that are not built in, and arrays."""
    info = known.get(oid)
    if info is not None and info.base:
        return data_type(info.base, info.modifier if info.modifier >= 0 else modifier, known)
    if info is not None and info.element:
        return ARRAY(data_type(info.element, modifier, known))
    match oid:
        case 1042:  # bpchar, char(n)
            return CHAR(modifier - _HEAD) if modifier > _HEAD else STRING()
        case 1700:  # numeric
            return _numeric(modifier)
        case 1083:  # time
            return TIME(modifier) if 0 <= modifier <= _TIME_FRACTION_MAX else STRING()
        case 1114:  # timestamp
            return TIMESTAMP(modifier if modifier >= 0 else _FRACTION_MAX)
        case 1184:  # timestamptz
            return TIMESTAMP_LTZ(modifier if modifier >= 0 else _FRACTION_MAX)
        case _:
            return _PLAIN.get(oid, STRING())


def _numeric(modifier: int) -> DataType:
    """A number of declared digits; without a declaration any number of them, and NaN: text."""
    if modifier < _HEAD:
        return STRING()
    digits, scale = (modifier - _HEAD) >> 16 & 0xFFFF, ((modifier - _HEAD & 0x7FF) ^ 1024) - 1024
    if scale < 0:
        digits, scale = digits - scale, 0
    digits = max(digits, scale)
    return DECIMAL(digits, scale) if digits <= _DIGITS_MAX else STRING()
