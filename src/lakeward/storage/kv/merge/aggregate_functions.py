"""Aggregate functions: what a cell and a new cell make. Cells are plain, as `value_rows` reads them; None is NULL.

    sum, product                  integers wrap around; a DECIMAL out of digits is NULL
    max, min                      NaN is the largest number, −0.0 less than 0.0; text by its UTF-8 bytes
    first_value…, last_value…     the old or the new cell; only last_value takes NULL from the new row
    listagg, string_agg           text, a delimiter, more text
    bool_and, bool_or
    rbm32, rbm64                  Roaring bitmaps, their union

But for last_value a NULL changes nothing: the other cell is the result.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Aggregate, Column
from lakeward.model.values import DECIMAL_COMPACT_DIGITS_MAX
from lakeward.records.row.row_codec import minimal_bytes, one_nan
from lakeward.records.row.varint import I64_MAX

Combine = Callable[[Any, Any], Any]
"""Old cell, new cell → cell."""

DEFAULT_FUNCTION = Aggregate("last_value_ignore_nulls")
BITMAP_FUNCTIONS = frozenset({"rbm32", "rbm64"})
_DEFAULT_DELIMITER = ","
_INT_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
_F32 = struct.Struct("<f")
_F64 = struct.Struct("<d")
_I64 = struct.Struct("<q")


def keep_old(old: Any, _new: Any) -> Any:
    """The old cell: for columns that a row does not speak of."""
    return old


def last_value(_old: Any, new: Any) -> Any:
    """The new cell, NULL too."""
    return new


def _last_value_ignore_nulls(old: Any, new: Any) -> Any:
    return old if new is None else new


def _first_value(old: Any, new: Any) -> Any:
    return new if old is None else old


def combine_of(column: Column) -> Combine:
    """The function of a column that is not part of the primary key."""
    aggregate = column.aggregate or DEFAULT_FUNCTION
    match aggregate.function:
        case "last_value":
            return last_value
        case "last_value_ignore_nulls":
            return _last_value_ignore_nulls
        case "first_value" | "first_value_ignore_nulls":
            return _first_value
        case "sum":
            return _ignoring_nulls(_sum(column.type))
        case "product":
            return _ignoring_nulls(_product(column.type))
        case "max":
            return _ignoring_nulls(_max(_order(column.type)))
        case "min":
            return _ignoring_nulls(_min(_order(column.type)))
        case "bool_and":
            return _ignoring_nulls(lambda old, new: 1 if old and new else 0)
        case "bool_or":
            return _ignoring_nulls(lambda old, new: 1 if old or new else 0)
        case "listagg" | "string_agg":
            return _ignoring_nulls(_joiner(aggregate, column.type))
        case "rbm32" | "rbm64":
            return _bitmaps(column.name, aggregate.function)
        case other:
            raise ErrorCode.INVALID_CONFIG.error(
                f"Column '{column.name}' has an unknown aggregate function, '{other}'."
            )


def _ignoring_nulls(both: Combine) -> Combine:
    def combine(old: Any, new: Any) -> Any:
        if old is None:
            return new
        return old if new is None else both(old, new)

    return combine


def _sum(type_: DataType) -> Combine:
    if type_.root in _INT_BITS:
        wrap = _wrapping(_INT_BITS[type_.root])
        return lambda old, new: wrap(old + new)
    if type_.root is TypeRoot.FLOAT:
        return lambda old, new: _as_float32(old + new)
    if type_.root is TypeRoot.DOUBLE:
        return lambda old, new: old + new
    assert type_.precision is not None
    if type_.precision <= DECIMAL_COMPACT_DIGITS_MAX:
        # Apache Fluss looks at the digits of these only when 64 bits do not hold the sum.
        return lambda old, new: total if -I64_MAX - 1 <= (total := old + new) <= I64_MAX else None
    limit = 10**type_.precision
    return lambda old, new: _long_decimal(_integer_of(old) + _integer_of(new), limit)


def _product(type_: DataType) -> Combine:
    if type_.root in _INT_BITS:
        wrap = _wrapping(_INT_BITS[type_.root])
        return lambda old, new: wrap(old * new)
    if type_.root is TypeRoot.FLOAT:
        return lambda old, new: _as_float32(old * new)
    if type_.root is TypeRoot.DOUBLE:
        return lambda old, new: old * new
    assert type_.precision is not None
    assert type_.scale is not None
    limit, unit = 10**type_.precision, 10**type_.scale
    if type_.precision <= DECIMAL_COMPACT_DIGITS_MAX:
        return lambda old, new: scaled if abs(scaled := _half_up(old * new, unit)) < limit else None
    return lambda old, new: _long_decimal(_half_up(_integer_of(old) * _integer_of(new), unit), limit)


def _wrapping(bits: int) -> Callable[[int], int]:
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda number: ((number + half) & mask) - half


def _as_float32(number: float) -> float:
    try:
        return float(_F32.unpack(_F32.pack(number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _integer_of(cell: bytes) -> int:
    return int.from_bytes(cell, "big", signed=True)


def _long_decimal(unscaled: int, limit: int) -> bytes | None:
    return minimal_bytes(unscaled) if abs(unscaled) < limit else None


def _half_up(number: int, unit: int) -> int:
    """The quotient, rounded to the nearest; halves away from zero."""
    quotient, rest = divmod(abs(number), unit)
    if 2 * rest >= unit:
        quotient += 1
    return quotient if number >= 0 else -quotient


def _order(type_: DataType) -> Callable[[Any], Any]:
    """What cells of a type are compared by."""
    if type_.root in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return _order_of_floating
    if type_.root is TypeRoot.DECIMAL:
        assert type_.precision is not None
        if type_.precision > DECIMAL_COMPACT_DIGITS_MAX:
            return _integer_of
    return lambda cell: cell


def _order_of_floating(number: float) -> int:
    """The bits as an integer that grows with the number, from −infinity over −0.0 and 0.0 to NaN."""
    bits: int = _I64.unpack(_F64.pack(one_nan(number)))[0]
    return bits if bits >= 0 else bits ^ I64_MAX


def _max(order: Callable[[Any], Any]) -> Combine:
    return lambda old, new: new if order(old) < order(new) else old


def _min(order: Callable[[Any], Any]) -> Combine:
    return lambda old, new: old if order(old) < order(new) else new


def delimiter_of(aggregate: Aggregate) -> bytes:
    """What stands between joined texts."""
    return dict(aggregate.parameters).get("delimiter", _DEFAULT_DELIMITER).encode()


def _joiner(aggregate: Aggregate, type_: DataType) -> Combine:
    delimiter = delimiter_of(aggregate)
    if type_.root is TypeRoot.CHAR:  # may be padded; one that gets too long is refused when it is written
        return lambda old, new: old.rstrip(b"\0") + delimiter + new.rstrip(b"\0")
    return lambda old, new: old + delimiter + new


def _bitmaps(column_name: str, function: str) -> Combine:
    # pyroaring is loaded for tables that have bitmaps.
    from lakeward.storage.kv.roaring.roaring import check_bitmap, union_of_bitmaps
    from lakeward.storage.kv.roaring.roaring64 import check_bitmap64, union_of_bitmaps64

    narrow = function == "rbm32"
    check, union = (check_bitmap, union_of_bitmaps) if narrow else (check_bitmap64, union_of_bitmaps64)

    def combine(old: bytes | None, new: bytes | None) -> bytes | None:
        if new is None:
            return old
        try:
            if old is not None:
                return union(old, new)
            check(new)  # or no later bitmap could ever be merged into it
        except ValueError as wrong:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column '{column_name}' takes bitmaps for '{function}', and they could not be merged: {wrong}."
            ) from wrong
        return new

    return combine
