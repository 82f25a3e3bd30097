"""What filters leave out: never a row that matches."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.model.values import Timestamp
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
from lakeward.query.request.pushdown import is_pushed, keeps_partition, partition_values, to_predicate
from lakeward.records.arrow.arrow_statistics import collect
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.batch.predicate import Compound, Function, Joint, Leaf, may_match

SCHEMA = Schema.of(
    parse_columns(
        "i INT, s STRING, d DOUBLE, n DECIMAL(10, 2), day DATE, at TIMESTAMP_LTZ(3), plain TIMESTAMP(6), b BYTES,"
        " c CHAR(3), ok BOOLEAN, t TIME(3)"
    )[0]
)
AWARE = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("filter_", "function", "literals"),
    [
        (Compare("=", "i", 3), Function.EQUAL, (3,)),
        (Compare("<=>", "i", 3), Function.EQUAL, (3,)),
        (Compare("<=>", "i", None), Function.IS_NULL, ()),
        (Compare("<>", "s", "x"), Function.NOT_EQUAL, ("x",)),
        (Compare("<", "d", 1.5), Function.LESS_THAN, (1.5,)),
        (Compare(">=", "n", Decimal("1.20")), Function.GREATER_OR_EQUAL, (Decimal("1.20"),)),
        (Compare("<=", "day", dt.date(1970, 1, 11)), Function.LESS_OR_EQUAL, (10,)),
        (Compare(">", "at", AWARE), Function.GREATER_THAN, (Timestamp.of_datetime(AWARE),)),
        (Compare("=", "plain", AWARE.replace(tzinfo=None)), Function.EQUAL, (Timestamp.of_datetime(AWARE),)),
        (Compare("=", "ok", value=True), Function.EQUAL, (True,)),
        (Compare("=", "t", dt.time(0, 0, 1)), Function.EQUAL, (1000,)),
        (In("i", (1, 2, None)), Function.IN, (1, 2)),
        (IsNull("s"), Function.IS_NULL, ()),
        (NotNull("s"), Function.IS_NOT_NULL, ()),
        (StartsWith("s", "ab"), Function.STARTS_WITH, ("ab",)),
        (Not(Compare("<", "i", 3)), Function.GREATER_OR_EQUAL, (3,)),
        (Not(IsNull("i")), Function.IS_NOT_NULL, ()),
        (Not(Not(Compare("=", "i", 3))), Function.EQUAL, (3,)),
    ],
    ids=str,
)
def test_what_a_server_can_judge(filter_: Filter, function: Function, literals: tuple[Any, ...]) -> None:
    """A filter becomes a leaf with its literal in the column's own type."""
    found = to_predicate([filter_], SCHEMA)
    assert isinstance(found, Leaf)
    assert (found.function, found.literals) == (function, literals)


@pytest.mark.parametrize(
    "filter_",
    [
        Compare("=", "other", 1),
        Compare("=", "i", "1"),
        Compare("=", "i", 2**40),
        Compare("=", "i", value=True),
        Compare("=", "i", None),
        Compare(">", "d", 1.5),
        Compare("<>", "d", 1.5),
        Compare("=", "d", 0.0),
        Compare("=", "d", math.nan),
        Compare("=", "n", Decimal("1.234")),
        Compare("=", "at", AWARE.replace(tzinfo=None)),
        Compare("=", "plain", AWARE),
        Compare("=", "day", AWARE),
        Compare("=", "c", "abc"),
        Compare("=", "b", b"x"),
        Contains("s", "x"),
        EndsWith("s", "x"),
        StartsWith("i", "1"),
        In("i", ()),
        In("i", (1, "x")),
        Not(In("i", (1, None))),
        Not(StartsWith("s", "x")),
        Not(Compare("<=>", "i", 1)),
        Or((Compare("=", "i", 1), Contains("s", "x"))),
        Or(()),
    ],
    ids=str,
)
def test_what_is_kept_from_the_server(filter_: Filter) -> None:
    """What cannot be said exactly is not said: other types, NaN and zero, times with and without a zone."""
    assert to_predicate([filter_], SCHEMA) is None
    assert not is_pushed(filter_, SCHEMA)


def test_joined_filters() -> None:
    """Of filters that all must hold, those that can be told are; of alternatives, all or nothing."""
    one, other, dark = Compare("=", "i", 1), Compare("=", "i", 2), Contains("s", "x")
    a, b = to_predicate([one], SCHEMA), to_predicate([other], SCHEMA)
    assert a is not None
    assert b is not None
    assert to_predicate([one, dark], SCHEMA) == a
    assert to_predicate([And((dark, one))], SCHEMA) == a
    assert to_predicate([one, other], SCHEMA) == Compound(Joint.AND, (a, b))
    assert to_predicate([Or((one, other))], SCHEMA) == Compound(Joint.OR, (a, b))
    assert to_predicate([], SCHEMA) is None


def test_a_long_list_is_handed_down_as_its_ends() -> None:
    """A server takes so many parts of a request; thousands of other conditions are kept from it."""
    ends = And((Compare(">=", "i", 0), Compare("<=", "i", 9999)))
    assert to_predicate([In("i", (*range(10_000), None))], SCHEMA) == to_predicate([ends], SCHEMA)
    assert to_predicate([In("d", tuple(map(float, range(10_000))))], SCHEMA) is None
    assert to_predicate([In("i", (*range(10_000), "x"))], SCHEMA) is None
    assert not is_pushed(Not(In("i", tuple(range(10_000)))), SCHEMA)
    assert not is_pushed(Or(tuple(Compare("=", "i", n) for n in range(10_000))), SCHEMA)


_INTS, _TEXTS = st.integers(-3, 3), st.sampled_from(["", "a", "ab", "b", "é"])
_FLOATS = st.sampled_from([-1.5, -0.0, 0.0, 1.5, math.nan, math.inf])
_COLUMNS = {"i": _INTS, "s": _TEXTS, "d": _FLOATS}


def _leaves(column: str) -> st.SearchStrategy[Filter]:
    values = _COLUMNS[column]
    ops = st.sampled_from(["=", "<=>", "<>", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds(Compare, ops, st.just(column), st.one_of(st.none(), values)),
        st.builds(In, st.just(column), st.lists(st.one_of(st.none(), values), max_size=3).map(tuple)),
        st.just(IsNull(column)),
        st.just(NotNull(column)),
        *([st.builds(StartsWith, st.just(column), _TEXTS)] if column == "s" else []),
    )


_FILTERS = st.recursive(
    st.sampled_from(sorted(_COLUMNS)).flatmap(_leaves),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)
_ROWS = st.lists(st.fixed_dictionaries({c: st.one_of(st.none(), v) for c, v in _COLUMNS.items()}), max_size=4)


@given(filter_=_FILTERS, rows=_ROWS)
def test_no_batch_with_a_match_is_left_out(filter_: Filter, rows: list[dict[str, Any]]) -> None:
    """By SQL's rules (NULL, NaN the largest number, -0.0 equal to 0.0), a batch that holds a match is kept."""
    schema = SCHEMA.select(["i", "s", "d"])
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(schema))
    predicate = to_predicate([filter_], schema)
    if predicate is None or not any(_sql(filter_, row) for row in rows):
        return
    told = {schema.columns[c.position].id: c for c in collect(batch, schema, range(3))}
    assert may_match(predicate, told, len(rows))


@given(filter_=_FILTERS, rows=_ROWS)
def test_no_partition_with_a_match_is_left_out(filter_: Filter, rows: list[dict[str, Any]]) -> None:
    """With the values of some columns known, a partition that can hold a match is kept."""
    for row in rows:
        known = {"i": row["i"], "s": row["s"]}
        if None not in known.values() and _sql(filter_, row):
            assert keeps_partition([filter_], known)


def _sql(filter_: Filter, row: dict[str, Any]) -> bool | None:
    """Three-valued logic, as engines have it."""
    match filter_:
        case Not(child):
            told = _sql(child, row)
            return None if told is None else not told
        case And(children):
            each = [_sql(c, row) for c in children]
            return False if False in each else None if None in each else True
        case Or(children):
            each = [_sql(c, row) for c in children]
            return True if True in each else None if None in each else False
        case IsNull(name):
            return row[name] is None
        case NotNull(name):
            return row[name] is not None
        case In(name, values):
            return _sql(Or(tuple(Compare("=", name, v) for v in values)), row)
        case StartsWith(name, value):
            return None if row[name] is None else row[name].startswith(value)
        case Compare("<=>", name, value):
            left, right = _ranked(row[name]), _ranked(value)
            return left == right
        case Compare(op, name, value):
            if row[name] is None or value is None:
                return None
            left, right = _ranked(row[name]), _ranked(value)
            return {
                "=": left == right,
                "<>": left != right,
                "<": left < right,
                "<=": left <= right,
                ">": left > right,
                ">=": left >= right,
            }[op]
        case _:
            raise AssertionError(filter_)


def _ranked(value: Any) -> Any:
    """NaN equals itself and is above everything."""
    return (value != value, 0.0 if value != value else value)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("STRING", "2026-11-01", "2026-11-01"),
        ("INT", "-5", -5),
        ("BOOLEAN", "true", True),
        ("DATE", "2026-11-01", dt.date(2026, 11, 1)),
        ("DATE", "soon", None),
        ("BOOLEAN", "maybe", None),
        ("DOUBLE", "1_5", None),
        ("TIMESTAMP(3)", "2026-11-01-00-00-00_", None),
    ],
)
def test_values_of_a_partition(type_: str, text: str, value: Any) -> None:
    """Texts that can be read back exactly are; of the others nothing is known, so they are kept."""
    schema = Schema.of(parse_columns(f"p {type_}")[0])
    found = partition_values(schema, {"p": text})
    assert found == ({} if value is None else {"p": value})
    assert keeps_partition([Compare("=", "p", value)], found)
    assert keeps_partition([IsNull("p")], found) is (value is None)
