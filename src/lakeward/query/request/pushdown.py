"""Filters handed down: to the server, which leaves out batches, and to the choice of partitions.

Everything here is one-sided. A filter that cannot be translated exactly, or at all, keeps what it might have left out.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from lakeward.errors import LakewardError
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Column, Schema
from lakeward.model.values import of_python
from lakeward.query.request.filters import (
    And,
    Compare,
    Contains,
    EndsWith,
    Filter,
    In,
    IsNull,
    Not,
    NotNull,
    Or,
    StartsWith,
)
from lakeward.records.batch.predicate import Compound, Function, Joint, Leaf, Predicate

_FUNCTIONS = {
    "=": Function.EQUAL,
    "<=>": Function.EQUAL,
    "<>": Function.NOT_EQUAL,
    "<": Function.LESS_THAN,
    "<=": Function.LESS_OR_EQUAL,
    ">": Function.GREATER_THAN,
    ">=": Function.GREATER_OR_EQUAL,
}
_OPPOSITES = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_FLOATS = {TypeRoot.FLOAT, TypeRoot.DOUBLE}
#: Engines hold NaN to be the largest number; minima and maxima may not know of it.
_BLIND_TO_NAN = {"<>", ">", ">="}
_INTEGER_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
#: A server takes so many parts of a request, all tables and buckets together (server.request.max-elements).
_VALUES_MAX = 1000
_PARTS_MAX = 3000
_NOT_JUDGED = {TypeRoot.CHAR, TypeRoot.BINARY, TypeRoot.BYTES, TypeRoot.ARRAY, TypeRoot.MAP, TypeRoot.ROW}


def to_predicate(filters: Iterable[Filter], schema: Schema) -> Predicate | None:
    """What of these filters (all must hold) a server can judge batches by; None when it is nothing."""
    found = [_predicate(f, schema) for f in filters]
    return _all([p for p in found if p is not None and _size(p) <= _PARTS_MAX])


def is_pushed(filter_: Filter, schema: Schema) -> bool:
    """Whether the server gets something of this filter."""
    return to_predicate((filter_,), schema) is not None


def _size(predicate: Predicate) -> int:
    if isinstance(predicate, Compound):
        return 1 + sum(map(_size, predicate.children))
    return 1 + len(predicate.literals)


def _all(found: list[Predicate | None]) -> Predicate | None:
    kept = [p for p in found if p is not None]
    if len(kept) <= 1:
        return kept[0] if kept else None
    return Compound(Joint.AND, tuple(kept))


def _any(found: list[Predicate | None]) -> Predicate | None:
    kept = [p for p in found if p is not None]
    if not found or len(kept) < len(found):
        return None  # the branch that is not known may match anything
    return kept[0] if len(kept) == 1 else Compound(Joint.OR, tuple(kept))


def _predicate(filter_: Filter, schema: Schema) -> Predicate | None:
    match filter_:
        case And(children):
            return _all([_predicate(c, schema) for c in children])
        case Or(children):
            return _any([_predicate(c, schema) for c in children])
        case Not(child):
            return _opposite(child, schema)
        case IsNull(name):
            return _leaf(Function.IS_NULL, name, (), schema)
        case NotNull(name):
            return _leaf(Function.IS_NOT_NULL, name, (), schema)
        case Compare("<=>", name, None):
            return _leaf(Function.IS_NULL, name, (), schema)
        case Compare(op, name, value):
            if op in _BLIND_TO_NAN and _is_float(name, schema):
                return None
            return _leaf(_FUNCTIONS[op], name, (value,), schema)
        case In(name, values):
            some = tuple(v for v in values if v is not None)
            if len(some) > _VALUES_MAX:
                return _between(name, some, schema)
            return _leaf(Function.IN, name, some, schema)
        case StartsWith(name, value):
            return _leaf(Function.STARTS_WITH, name, (value,), schema)
        case EndsWith() | Contains():
            return None  # minima and maxima say nothing of it


def _opposite(filter_: Filter, schema: Schema) -> Predicate | None:
    """NOT of a filter. NULL is not true on either side, so comparisons turn round."""
    match filter_:
        case Not(child):
            return _predicate(child, schema)
        case And(children):
            return _any([_opposite(c, schema) for c in children])
        case Or(children):
            return _all([_opposite(c, schema) for c in children])
        case IsNull(name):
            return _predicate(NotNull(name), schema)
        case NotNull(name):
            return _predicate(IsNull(name), schema)
        case Compare(op, name, value) if op in _OPPOSITES:
            return _predicate(Compare(_OPPOSITES[op], name, value), schema)
        case In(name, values) if all(v is not None for v in values) and not _is_float(name, schema):
            return _all([_predicate(Compare("<>", name, v), schema) for v in values])
        case _:
            return None


def _between(name: str, values: tuple[Any, ...], schema: Schema) -> Predicate | None:
    """Where the values of a long list lie."""
    if _is_float(name, schema):
        return None
    try:
        return _predicate(And((Compare(">=", name, min(values)), Compare("<=", name, max(values)))), schema)
    except TypeError:  # values of several types
        return None


def _is_float(name: str, schema: Schema) -> bool:
    return name in schema.positions and schema.column(name).type.root in _FLOATS


def _leaf(function: Function, name: str, values: tuple[Any, ...], schema: Schema) -> Predicate | None:
    if name not in schema.positions:
        return None
    column = schema.column(name)
    if column.type.root in _NOT_JUDGED:
        return None
    if function is Function.STARTS_WITH and column.type.root is not TypeRoot.STRING:
        return None
    literals = []
    for value in values:
        literal = _literal(column, value)
        if literal is None:
            return None
        literals.append(literal)
    if function is Function.IN and not literals:
        return None
    return Leaf(function, column.id, tuple(literals))


def _literal(column: Column, value: Any) -> Any:
    """The value in the column's own type; None when it is not exactly one of its values."""
    root = column.type.root
    if value is None or isinstance(value, bool) is not (root is TypeRoot.BOOLEAN):
        return None
    if root in _INTEGER_BITS:
        limit = 1 << (_INTEGER_BITS[root] - 1)
        return value if isinstance(value, int) and -limit <= value < limit else None
    if root in _FLOATS:
        return _fraction(root, value)
    if not isinstance(value, _PYTHON.get(root, object)) or (root is TypeRoot.DATE and isinstance(value, dt.datetime)):
        return None
    if root in _WITH_ZONE and (value.tzinfo is not None) is not _WITH_ZONE[root]:
        return None
    try:
        return of_python(column.type, value)
    except LakewardError:
        return None


def _fraction(root: TypeRoot, value: Any) -> float | None:
    """NaN has no order; -0.0 is below 0.0 for Java, equal to it for engines. A number between two is no literal."""
    if not isinstance(value, int | float) or not value or value != value:
        return None
    try:
        found = float(value)
        found = _FLOAT.unpack(_FLOAT.pack(found))[0] if root is TypeRoot.FLOAT else found
    except OverflowError:
        return None
    return found if found == value else None


_FLOAT = struct.Struct("<f")
_PYTHON: dict[TypeRoot, Any] = {
    TypeRoot.DECIMAL: (Decimal, int),  # a float is compared as one, and several decimals are the same float
    TypeRoot.STRING: str,
    TypeRoot.DATE: dt.date,
    TypeRoot.TIME: dt.time,
    TypeRoot.TIMESTAMP: dt.datetime,
    TypeRoot.TIMESTAMP_LTZ: dt.datetime,
}
_WITH_ZONE = {TypeRoot.TIMESTAMP: False, TypeRoot.TIMESTAMP_LTZ: True}

# -- partitions -------------------------------------------------------------------------------------------------------


def partition_values(schema: Schema, spec: Mapping[str, str]) -> dict[str, Any]:
    """The values of a partition's columns, of those whose text can be read back exactly."""
    found = {}
    for name, text in spec.items():
        parse = _OF_TEXT.get(schema.column(name).type.root)
        if parse is not None:
            try:
                found[name] = parse(text)
            except ValueError:
                continue  # another writer's way to write it: nothing is known of the value
    return found


def keeps_partition(filters: Iterable[Filter], values: Mapping[str, Any]) -> bool:
    """Whether rows with these values in the partition's columns can match all the filters."""
    return all(_holds(f, values) is not False for f in filters)


def _bool(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(text)
    return text == "true"


_OF_TEXT: dict[TypeRoot, Callable[[str], Any]] = {
    TypeRoot.STRING: str,
    TypeRoot.BOOLEAN: _bool,
    TypeRoot.TINYINT: int,
    TypeRoot.SMALLINT: int,
    TypeRoot.INTEGER: int,
    TypeRoot.BIGINT: int,
    TypeRoot.DATE: dt.date.fromisoformat,
}


def _holds(filter_: Filter, values: Mapping[str, Any]) -> bool | None:
    """True, False, or None when it is not known (or NULL, which we do not tell apart)."""
    match filter_:
        case And(children):
            return _together([_holds(c, values) for c in children], decided_by=False)
        case Or(children):
            return _together([_holds(c, values) for c in children], decided_by=True)
        case Not(child):
            told = _holds(child, values)
            return None if told is None else not told
        case _ if filter_.column not in values:
            return None
        case IsNull():
            return False
        case NotNull():
            return True
        case In(name, candidates):
            told_each = [_compare("=", values[name], v) for v in candidates]
            return _together(told_each, decided_by=True)
        case Compare(op, name, value):
            return _compare(op, values[name], value)
        case StartsWith(name, value):
            return _text(values[name], lambda text: text.startswith(value))
        case EndsWith(name, value):
            return _text(values[name], lambda text: text.endswith(value))
        case Contains(name, value):
            return _text(values[name], lambda text: value in text)


def _together(told: list[bool | None], *, decided_by: bool) -> bool | None:
    if decided_by in told:
        return decided_by
    return None if None in told else not decided_by


def _text(value: Any, test: Callable[[str], bool]) -> bool | None:
    return test(value) if isinstance(value, str) else None


def _compare(op: str, value: Any, literal: Any) -> bool | None:
    if type(value) is not type(literal):
        return None
    return _COMPARED[op](value, literal)


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<=>": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
