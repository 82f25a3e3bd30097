"""Filters as values, and as the JSON that crosses from an engine.

    {"op": "=", "column": "dt", "value": "2026-11-01"}      also <=> <> < <= > >= starts_with ends_with contains
    {"op": "in", "column": "id", "values": [1, 2]}
    {"op": "is_null", "column": "name"}                      also is_not_null
    {"op": "and", "children": [...]}                         also or; {"op": "not", "child": {...}}

A value is a JSON text, number, boolean or null, or says its type:
    {"type": "decimal", "value": "1.20"}    {"type": "date", "value": "2026-11-01" or days since 1970}
    {"type": "timestamp", "value": ISO text or microseconds since 1970}      a point in time
    {"type": "timestamp_ntz", "value": the same}                            without a zone
    {"type": "time", "value": "12:34:56"}   {"type": "binary", "value": base64}   {"type": "double", "value": "NaN"}

Filters only make a read smaller: the engine evaluates them again on the rows. So a moment that Python cannot name (the
year 10000) is kept as it was written, and nothing is judged by it.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakeward.errors import ErrorCode

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
COMPARISONS = ("=", "<=>", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class UnnamedValue:
    """A day or a moment that Python has no value for, as its JSON."""

    type: str
    value: str | int

    def __str__(self) -> str:
        return f"{self.type} {self.value}"


@dataclass(frozen=True, slots=True)
class Compare:
    """A column compared with a value; `op` is one of COMPARISONS."""

    op: str
    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.op} {_literal(self.value)}"


@dataclass(frozen=True, slots=True)
class In:
    """A column that has one of several values."""

    column: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(_literal(v) for v in self.values)})"


@dataclass(frozen=True, slots=True)
class IsNull:
    """A column without a value."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} IS NULL"


@dataclass(frozen=True, slots=True)
class NotNull:
    """A column with a value."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} IS NOT NULL"


@dataclass(frozen=True, slots=True)
class StartsWith:
    """A text that begins with another."""

    column: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {_literal(self.value + '%')}"


@dataclass(frozen=True, slots=True)
class EndsWith:
    """A text that ends with another."""

    column: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {_literal('%' + self.value)}"


@dataclass(frozen=True, slots=True)
class Contains:
    """A text that has another in it."""

    column: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {_literal('%' + self.value + '%')}"


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    children: tuple[Filter, ...]

    def __str__(self) -> str:
        return f"({' AND '.join(map(str, self.children))})"


@dataclass(frozen=True, slots=True)
class Or:
    """Any of them."""

    children: tuple[Filter, ...]

    def __str__(self) -> str:
        return f"({' OR '.join(map(str, self.children))})"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    child: Filter

    def __str__(self) -> str:
        return f"NOT {self.child}"


Filter = Compare | In | IsNull | NotNull | StartsWith | EndsWith | Contains | And | Or | Not

_OF_COLUMN: dict[str, type[IsNull | NotNull]] = {"is_null": IsNull, "is_not_null": NotNull}
_OF_TEXT: dict[str, type[StartsWith | EndsWith | Contains]] = {
    "starts_with": StartsWith,
    "ends_with": EndsWith,
    "contains": Contains,
}
_OF_CHILDREN: dict[str, type[And | Or]] = {"and": And, "or": Or}
_OPS = {kind: op for ops in (_OF_COLUMN, _OF_TEXT, _OF_CHILDREN) for op, kind in ops.items()}


def columns_of(filter_: Filter) -> set[str]:
    """The columns that a filter looks at."""
    match filter_:
        case And(children) | Or(children):
            return {name for child in children for name in columns_of(child)}
        case Not(child):
            return columns_of(child)
        case _:
            return {filter_.column}


def to_json(filter_: Filter) -> dict[str, Any]:
    """The JSON form of a filter."""
    match filter_:
        case Compare(op, column, value):
            return {"op": op, "column": column, "value": _value_json(value)}
        case In(column, values):
            return {"op": "in", "column": column, "values": [_value_json(v) for v in values]}
        case Not(child):
            return {"op": "not", "child": to_json(child)}
        case And(children) | Or(children):
            return {"op": _OPS[type(filter_)], "children": [to_json(c) for c in children]}
        case StartsWith(column, value) | EndsWith(column, value) | Contains(column, value):
            return {"op": _OPS[type(filter_)], "column": column, "value": value}
        case IsNull(column) | NotNull(column):
            return {"op": _OPS[type(filter_)], "column": column}


def of_json(json: Mapping[str, Any]) -> Filter:
    """The filter of a JSON form; INVALID_SCAN_REQUEST when it is none."""
    try:
        return _of_json(json)
    except (KeyError, TypeError, ValueError, ArithmeticError) as wrong:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(f"{json!r} is not a filter: {wrong!r}.") from wrong


def _of_json(json: Mapping[str, Any]) -> Filter:
    op = json["op"]
    if op in COMPARISONS:
        return Compare(op, json["column"], _value(json["value"]))
    if op == "in":
        return In(json["column"], tuple(_value(v) for v in json["values"]))
    if op == "not":
        return Not(_of_json(json["child"]))
    if op in _OF_CHILDREN:
        return _OF_CHILDREN[op](tuple(_of_json(c) for c in json["children"]))
    if op in _OF_TEXT:
        return _OF_TEXT[op](json["column"], json["value"])
    return _OF_COLUMN[op](json["column"])


# -- values -----------------------------------------------------------------------------------------------------------


def _value_json(value: Any) -> Any:
    match value:
        case Decimal():
            return {"type": "decimal", "value": str(value)}
        case dt.datetime():
            return {"type": "timestamp" if value.tzinfo else "timestamp_ntz", "value": value.isoformat()}
        case dt.date():
            return {"type": "date", "value": value.isoformat()}
        case dt.time():
            return {"type": "time", "value": value.isoformat()}
        case UnnamedValue(type_, told):
            return {"type": type_, "value": told}
        case bytes():
            return {"type": "binary", "value": base64.b64encode(value).decode()}
        case float() if value - value != 0:
            return {"type": "double", "value": str(value)}
        case _:
            return value


def _value(json: Any) -> Any:
    if not isinstance(json, Mapping):
        return json
    type_, value = json["type"], json["value"]
    if type_ in _MOMENTS and isinstance(value, str) and _FAR.match(value):
        return UnnamedValue(type_, value)
    try:
        return _TYPED[type_](value)
    except OverflowError:
        return UnnamedValue(type_, value)


def _instant(value: str | int) -> dt.datetime:
    if isinstance(value, int):
        return _EPOCH + dt.timedelta(microseconds=value)
    found = dt.datetime.fromisoformat(value)
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)


def _plain_time(value: str | int) -> dt.datetime:
    return _instant(value).replace(tzinfo=None)


def _day(value: str | int) -> dt.date:
    if isinstance(value, int):
        return _EPOCH.date() + dt.timedelta(days=value)
    return dt.date.fromisoformat(value)


_TYPED: dict[str, Callable[[Any], Any]] = {
    "decimal": Decimal,
    "double": float,
    "date": _day,
    "time": dt.time.fromisoformat,
    "timestamp": _instant,
    "timestamp_ntz": _plain_time,
    "binary": base64.b64decode,
}


_MOMENTS = {"date", "timestamp", "timestamp_ntz"}
#: A year that Python does not have, as Java writes it: with a sign, or 0000.
_FAR = re.compile(r"[+-]\d|0000-")


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime():
            return f"'{value.isoformat(sep=' ')}'"
        case dt.date() | dt.time():
            return f"'{value.isoformat()}'"
        case bytes():
            return f"X'{value.hex().upper()}'"
        case _:
            return str(value)
