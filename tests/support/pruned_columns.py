"""Columns of every type that files and batches are left out by: their values, literals, and what a comparison says.

A value is what can be compared: numbers, texts, bytes, decimals, days and ticks since 1970, floats in the engines'
order (NaN is the largest and equals itself, -0.0 equals 0.0).
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lakeward.model.data_types import DataType
from lakeward.model.type_text import parse_type
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
from lakeward.records.arrow.arrow_types import arrow_type

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EXACT = Context(prec=60)
_TEXT_OPS: dict[type, Callable[[str, str], bool]] = {
    StartsWith: str.startswith,
    EndsWith: str.endswith,
    Contains: lambda text, part: part in text,
}


@dataclass(frozen=True)
class PrunedColumn:
    """A type, its values as Arrow stores them, and the literal that an engine writes for one (None: there is none)."""

    sql: str
    values: st.SearchStrategy[Any]
    literal: Callable[[Any], Any]

    @property
    def type(self) -> DataType:
        return parse_type(self.sql)

    def array(self, values: Sequence[Any]) -> pa.Array:
        """The column in Arrow."""
        target = arrow_type(self.type)
        if pa.types.is_temporal(target):
            number = pa.int32() if target.bit_width == 32 else pa.int64()
            return pa.array(values, number).cast(target)
        return pa.array(values, target)


def _float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _decimal(digits: int, scale: int) -> PrunedColumn:
    unscaled = st.integers(1 - 10**digits, 10**digits - 1) | st.sampled_from([0, 1, -1, 10**digits - 1, 1 - 10**digits])
    values = unscaled.map(lambda n: Decimal(n).scaleb(-scale, _EXACT))
    return PrunedColumn(f"DECIMAL({digits}, {scale})", values, lambda v: v)


def _moments(sql: str, per_second: int, *, zoned: bool) -> PrunedColumn:
    def literal(ticks: int) -> Any:
        micros, lost = divmod(ticks * 1_000_000, per_second)
        try:
            found = _EPOCH + dt.timedelta(microseconds=micros)
        except OverflowError:
            return None
        return None if lost else found if zoned else found.replace(tzinfo=None)

    near = st.integers(-5, 5)
    years = st.integers(-9_000_000_000 * per_second, 9_000_000_000 * per_second)
    beyond = st.integers(260_000_000_000, 260_000_000_100).map(lambda s: s * per_second)
    return PrunedColumn(sql, near | years | (beyond if per_second < 10**9 else near), literal)


def _day(days: int) -> dt.date | None:
    try:
        return _EPOCH.date() + dt.timedelta(days=days)
    except OverflowError:
        return None


def _time(sql: str, per_second: int) -> PrunedColumn:
    def literal(ticks: int) -> dt.time | None:
        micros, lost = divmod(ticks * 1_000_000, per_second)
        return None if lost else (_EPOCH + dt.timedelta(microseconds=micros)).time()

    return PrunedColumn(sql, st.integers(0, 86_400 * per_second - 1) | st.integers(0, 3), literal)


def _same(value: Any) -> Any:
    return value


_letters = st.sampled_from("ab\u00e9\ud7ff\ue000\uffff\U00010000\U0010ffff")
_texts = st.text(_letters, max_size=3) | st.text(_letters, min_size=14, max_size=20) | st.just("a" * 16)
_floats = st.floats(width=32) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, _float32(0.1)])
_bytes = st.binary(max_size=3) | st.binary(min_size=15, max_size=18) | st.just(b"\xff" * 20)

COLUMNS: tuple[PrunedColumn, ...] = (
    PrunedColumn("BOOLEAN", st.booleans(), _same),
    PrunedColumn("TINYINT", st.integers(-128, 127), _same),
    PrunedColumn("SMALLINT", st.integers(-(2**15), 2**15 - 1), _same),
    PrunedColumn("INT", st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 3), _same),
    PrunedColumn("BIGINT", st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), _same),
    PrunedColumn("FLOAT", _floats, _same),
    PrunedColumn("DOUBLE", st.floats() | _floats, _same),
    PrunedColumn("CHAR(20)", _texts, _same),
    PrunedColumn("STRING", _texts, _same),
    PrunedColumn("BINARY(3)", st.binary(min_size=3, max_size=3), _same),
    PrunedColumn("BYTES", _bytes, _same),
    _decimal(9, 2),
    _decimal(18, 0),
    _decimal(28, 14),
    _decimal(38, 0),
    _decimal(38, 18),
    _decimal(38, 38),
    PrunedColumn("DATE", st.integers(-800_000, 800_000) | st.integers(2_932_890, 3_000_000), _day),
    _time("TIME(0)", 1),
    _time("TIME(3)", 1000),
    _moments("TIMESTAMP(0)", 1, zoned=False),
    _moments("TIMESTAMP(3)", 1000, zoned=False),
    _moments("TIMESTAMP(6)", 10**6, zoned=False),
    _moments("TIMESTAMP(9)", 10**9, zoned=False),
    _moments("TIMESTAMP_LTZ(3)", 1000, zoned=True),
    _moments("TIMESTAMP_LTZ(6)", 10**6, zoned=True),
    _moments("TIMESTAMP_LTZ(9)", 10**9, zoned=True),
)


def filters(column: PrunedColumn, name: str, values: Sequence[Any]) -> st.SearchStrategy[Filter]:
    """Filters on a column, with literals among its values, beside them, and anywhere."""
    known = [v for v in values if v is not None]
    near = st.sampled_from(known) if known else column.values
    moved = near.map(_moved) if known and isinstance(known[0], int) and not isinstance(known[0], bool) else near
    literals = (near | moved | column.values).map(column.literal).filter(lambda v: v is not None)
    ops = st.sampled_from(["=", "<=>", "<>", "<", "<=", ">", ">="])
    leaves: st.SearchStrategy[Any] = (
        st.builds(Compare, ops, st.just(name), literals)
        | st.builds(Compare, ops, st.just(name), st.none())
        | st.builds(In, st.just(name), st.lists(literals | st.none(), max_size=3).map(tuple))
        | st.just(IsNull(name))
        | st.just(NotNull(name))
    )
    if known and isinstance(known[0], str):
        parts = st.builds(lambda text, n: text[:n], literals, st.integers(0, 17))
        leaves |= st.builds(lambda kind, text: kind(name, text), st.sampled_from([*_TEXT_OPS]), parts)
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Not, inner)
            | st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple))
            | st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple))
        ),
        max_leaves=4,
    )


def _moved(value: int) -> int:
    return value + 1 if value % 2 else value - 1


def matches(filter_: Filter, row: Mapping[str, Any], column: PrunedColumn) -> bool | None:
    """What an engine says: true, false, or NULL."""
    match filter_:
        case And(children):
            told = [matches(c, row, column) for c in children]
            return False if False in told else None if None in told else True
        case Or(children):
            told = [matches(c, row, column) for c in children]
            return True if True in told else None if None in told else False
        case Not(child):
            one = matches(child, row, column)
            return None if one is None else not one
        case IsNull(name):
            return row[name] is None
        case NotNull(name):
            return row[name] is not None
        case Compare(op, name, value):
            return _compared(op, row[name], value, column)
        case In(name, values):
            return matches(Or(tuple(Compare("=", name, v) for v in values)), row, column) if values else False
        case _:
            text = row[filter_.column]
            return None if text is None else _TEXT_OPS[type(filter_)](text, filter_.value)


def _compared(op: str, value: Any, literal: Any, column: PrunedColumn) -> bool | None:
    if op == "<=>" and (value is None or literal is None):
        return value is None and literal is None
    if value is None or literal is None:
        return None
    left, right = _ordered(value), _ordered(_stored(literal, column))
    results = {"=": left == right, "<=>": left == right, "<>": left != right, "<": left < right}
    results |= {"<=": left <= right, ">": left > right, ">=": left >= right}
    return results[op]


def _stored(literal: Any, column: PrunedColumn) -> Any:
    """A literal as values of the column are."""
    unit = getattr(arrow_type(column.type), "unit", "us")
    per_second = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    if isinstance(literal, dt.datetime):
        since = (literal if literal.tzinfo else literal.replace(tzinfo=dt.UTC)) - _EPOCH
        return (since // dt.timedelta(microseconds=1)) * per_second // 10**6
    if isinstance(literal, dt.date):
        return (literal - _EPOCH.date()).days
    if isinstance(literal, dt.time):
        moment = dt.datetime.combine(_EPOCH.date(), literal) - _EPOCH.replace(tzinfo=None)
        return (moment // dt.timedelta(microseconds=1)) * per_second // 10**6
    return literal


def _ordered(value: Any) -> Any:
    return (math.isnan(value), 0.0 if math.isnan(value) else value + 0.0) if isinstance(value, float) else value
