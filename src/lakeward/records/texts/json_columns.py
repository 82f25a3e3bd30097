"""JSON values → a column of a table's type. The inverse of cell_text.json_writer."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.model.schema import Column
from lakeward.records.arrow import arrow_casts
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.arrow.cell_text import in_whole_numbers

Reader = Callable[[Any], Any]

_INTEGERS = {TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT}
_FLOATS = {TypeRoot.FLOAT, TypeRoot.DOUBLE}
_TIMES = {TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_BYTES = {TypeRoot.BYTES, TypeRoot.BINARY}
_EXACT = {int, Decimal, type(None)}
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}
#: From here on a double rounds to a FLOAT's infinity.
_FLOAT_MAX = (2 - 2**-24) * 2.0**127
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_MOMENT = re.compile(r"(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?")


def decoder_for(types: Iterable[DataType]) -> json.JSONDecoder:
    """A JSON decoder that keeps every digit where a type needs them."""
    return json.JSONDecoder(parse_float=Decimal) if any(map(_has_decimals, types)) else json.JSONDecoder()


def column_of_json(values: list[Any], column: Column) -> pa.Array:
    """The column, or a misfit (see misfits) when a value is not of its type."""
    target = arrow_type(column.type)
    root = column.type.root
    if root in _TIMES and all(value is None or isinstance(value, str) for value in values):
        return arrow_casts.cast(pa.array(values, type=pa.string()), target, column.name, column.type)
    if root is TypeRoot.DECIMAL and set(map(type, values)) <= _EXACT:
        return pa.array(values, type=target)
    if root in NESTED or root in _BYTES or root in _TIMES or root is TypeRoot.DECIMAL:
        read = _optional(column.type)
        return pa.array([read(value) for value in values], type=in_whole_numbers(target)).cast(target)
    if root in _FLOATS:
        values = [float(v) if isinstance(v, Decimal) or v in _NOT_FINITE else v for v in values]
    # Arrow, told the type, would cut 1.5 down to 1 for an INT; what it finds by itself is cast without loss.
    return arrow_casts.cast(pa.array(values), target, column.name, column.type)


def _has_decimals(type_: DataType) -> bool:
    parts = [type_.element, type_.key, type_.value, *(f.type for f in type_.fields)]
    return type_.root is TypeRoot.DECIMAL or any(_has_decimals(part) for part in parts if part is not None)


def _optional(type_: DataType) -> Reader:
    read = _reader(type_)
    return lambda value: None if value is None else read(value)


def _reader(type_: DataType) -> Reader:
    """A function from a JSON value to what `pa.array` takes, times as whole numbers."""
    root = type_.root
    if root is TypeRoot.ARRAY:
        assert type_.element is not None
        element = _optional(type_.element)
        return lambda value: [element(v) for v in _check_kind(value, list)]
    if root is TypeRoot.MAP:
        return _map_reader(type_)
    if root is TypeRoot.ROW:
        return _row_reader(type_)
    if root in _TIMES:
        return _time_reader(type_)
    if root in _INTEGERS:
        return lambda value: _check_kind(value, int)
    if root in _FLOATS:
        return _float if root is TypeRoot.FLOAT else _double
    if root is TypeRoot.DECIMAL:
        return _decimal
    if root in _BYTES:
        return lambda value: b64decode(_check_kind(value, str), validate=True)
    return lambda value: _check_kind(value, bool if root is TypeRoot.BOOLEAN else str)


def _map_reader(type_: DataType) -> Reader:
    assert type_.key is not None
    assert type_.value is not None
    key, item = _key_reader(type_.key), _optional(type_.value)
    return lambda value: [(key(k), item(v)) for k, v in _check_kind(value, dict).items()]


def _key_reader(type_: DataType) -> Reader:
    """Keys of a JSON object are text, whatever the key's type."""
    read = _reader(type_)
    if type_.root in _INTEGERS:
        return int
    if type_.root is TypeRoot.BOOLEAN:
        return lambda text: {"true": True, "false": False}[text]
    if type_.root in _FLOATS:
        return float
    return read


def _row_reader(type_: DataType) -> Reader:
    fields = {f.name: _optional(f.type) for f in type_.fields}

    def read(value: Any) -> dict[str, Any]:
        given = _check_kind(value, dict)
        unknown = given.keys() - fields.keys()
        if unknown:
            raise ValueError(f"there is no field {min(unknown)!r}")
        return {name: part(given.get(name)) for name, part in fields.items()}

    return read


def _check_kind(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


def _float(value: Any) -> float:
    number = _double(value)
    if _FLOAT_MAX < abs(number) < math.inf:
        raise ValueError(f"{value!r} is too large for a FLOAT")
    return number


def _double(value: Any) -> float:
    if type(value) in {int, float, Decimal} or (isinstance(value, str) and value in _NOT_FINITE):
        return float(value)
    raise TypeError(f"{value!r} is not a number")


def _decimal(value: Any) -> Decimal:
    if type(value) in {int, Decimal, str}:
        return Decimal(value)
    raise TypeError(f"{value!r} is not a number")


def _time_reader(type_: DataType) -> Reader:
    arrow = arrow_type(type_)
    digits = 0 if type_.root is TypeRoot.DATE else _DIGITS[arrow.unit]
    per_second: int = 10**digits
    seconds_per_tick = 86_400 if type_.root is TypeRoot.DATE else 1

    def read(value: Any) -> int:
        found = _MOMENT.fullmatch(_check_kind(value, str))
        day, clock, fraction, zone = found.groups() if found else (None,) * 4
        if not _has_the_parts(type_.root, bool(day), bool(clock), bool(zone)):
            raise ValueError(f"{value!r} is not a {type_}")
        fraction = (fraction or "").ljust(digits, "0")
        if fraction[digits:].strip("0"):
            raise ValueError(f"{value!r} has more digits than {type_}")
        moment = datetime.fromisoformat(f"{day or '1970-01-01'}T{clock or '00:00'}{zone or '+00:00'}")
        seconds: int = round((moment - _EPOCH).total_seconds())
        return seconds // seconds_per_tick * per_second + int(fraction[:digits] or 0)

    return read


def _has_the_parts(root: TypeRoot, day: bool, clock: bool, zone: bool) -> bool:
    match root:
        case TypeRoot.DATE:
            return day and not clock and not zone
        case TypeRoot.TIME:
            return clock and not day and not zone
        case TypeRoot.TIMESTAMP:
            return day and not zone
        case _:
            return day
