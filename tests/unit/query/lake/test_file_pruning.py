"""Files that cannot match are left out, others never."""

from __future__ import annotations

import datetime as dt
import operator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.iceberg.read.column_bounds import ColumnBounds
from lakeward.lake.port import Bounds
from lakeward.query.lake.file_pruning import judges, may_match
from lakeward.query.request.filters import And, Compare, Contains, Filter, In, IsNull, Not, NotNull, Or, StartsWith

_OPS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@given(st.lists(st.integers(-5, 5), min_size=1), st.sampled_from(sorted(_OPS)), st.integers(-7, 7))
def test_a_file_with_a_matching_row_is_never_left_out(values: list[int], op: str, literal: int) -> None:
    """The bounds of the values decide, and only when they can."""
    bounds = {"c": Bounds(min(values), max(values), 0, len(values))}
    if any(_OPS[op](v, literal) for v in values):
        assert may_match([Compare(op, "c", literal)], bounds)


@given(st.sets(st.integers(-99, 99), min_size=17), st.integers(-99, 99), st.integers(0, 40), st.booleans())
def test_a_long_list_is_looked_at_as_a_short_one(values: set[int], low: int, width: int, is_mixed: bool) -> None:
    """Also where a value of another kind is among them, or a bound is not known."""
    listed = (*values, *[None] * is_mixed)
    for known in (
        {"c": Bounds(low, low + width, 0, 10)},
        {"c": Bounds(None, low, 0, 1)},
        {"c": Bounds("x", "y", 0, 1)},
    ):
        assert may_match([In("c", listed)], known) == any(may_match([In("c", (v,))], known) for v in listed)


@pytest.mark.parametrize(
    "filter_",
    [
        Compare("=", "c", 4),
        Compare("<", "c", 5),
        Compare(">", "c", 9),
        In("c", (1, 10)),
        In("c", (*range(-40, 5), *range(10, 60))),
        IsNull("c"),
        StartsWith("s", "x"),
        StartsWith("s", "a"),
        And((Compare(">", "c", 0), Compare("<", "c", 5))),
        Or((Compare("<", "c", 5), Compare(">", "c", 9))),
        NotNull("n"),
        Compare("=", "n", 1),
    ],
)
def test_what_bounds_rule_out(filter_: Filter) -> None:
    """Each kind of filter by what it knows."""
    bounds = {"c": Bounds(5, 9, 0, 10), "s": Bounds("bc", "de", 0, 10), "n": Bounds(None, None, 10, 10)}
    assert not may_match([filter_], bounds)


@pytest.mark.parametrize(
    "filter_",
    [
        Compare("=", "other", 4),
        Compare("=", "c", "text"),
        Compare("<>", "c", 5),
        Not(Compare("=", "c", 5)),
        IsNull("n"),
        Compare(">", "f", 100.0),
        StartsWith("s", "b"),
    ],
)
def test_in_doubt_a_file_is_read(filter_: Filter) -> None:
    """Unknown columns, other types, what NaN may hide."""
    bounds = {
        "c": Bounds(5, 9, 0, 10),
        "s": Bounds("bc", "de", 0, 10),
        "n": Bounds(None, None, 10, 10),
        "f": Bounds(1.0, 2.0, 0, 10),
    }
    assert may_match([filter_], bounds)


def test_filters_that_may_leave_out_files_are_told_from_those_that_cannot() -> None:
    """Of several that must hold one is enough, of alternatives all are needed."""
    can, cannot = Compare("=", "c", 5), Contains("s", "x")
    assert judges(can)
    assert judges(And((can, cannot)))
    assert not judges(Or((can, cannot)))
    assert not any(judges(f) for f in (cannot, Not(can), Compare("<>", "c", 5), Compare("=", "c", None)))


def test_bounds_of_long_decimals_are_exact() -> None:
    """38 digits are more than Python's decimals have by themselves; a rounded bound would hide rows."""
    value = 12345678901234567890123456789012345678
    data = value.to_bytes(16, "big", signed=True)
    told = {"lower_bounds": {1: data}, "upper_bounds": {1: data}}
    bounds = ColumnBounds({"v": (1, "decimal(38, 18)")}, ["v"]).of(told)
    exact = Decimal("12345678901234567890.123456789012345678")
    assert all(may_match([Compare(op, "v", exact)], bounds) for op in ("=", "<=", ">="))
    assert not may_match([Compare("<", "v", exact)], bounds)


def test_a_text_bound_that_is_cut_amid_a_letter_says_nothing() -> None:
    """Another writer may cut after 16 bytes; half a letter has no place in an order of letters."""
    told = {"lower_bounds": {1: "é".encode()[:1]}, "upper_bounds": {}}
    assert may_match([Compare("<", "v", "z")], ColumnBounds({"v": (1, "string")}, ["v"]).of(told))


def test_a_moment_with_a_zone_and_one_without_are_not_compared() -> None:
    """Whoever asks so gets all files, not an error."""
    bounds = {"v": Bounds(dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2), 0, 1)}
    assert may_match([Compare("=", "v", dt.datetime(1999, 1, 1, tzinfo=dt.UTC))], bounds)
