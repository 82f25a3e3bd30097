"""Filters as values, as JSON and as text."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal

import pytest

from lakeward.errors import LakewardError
from lakeward.lake.port import Bounds
from lakeward.model.data_types import DATE
from lakeward.model.schema import Column, Schema
from lakeward.query.lake.file_pruning import may_match
from lakeward.query.request.filters import (
    COMPARISONS,
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
    columns_of,
    of_json,
    to_json,
)
from lakeward.query.request.pushdown import keeps_partition, to_predicate

NOON = dt.datetime(2026, 11, 1, 12, 30, 15, 250_000, tzinfo=dt.UTC)
VALUES = [
    None,
    True,
    7,
    1.5,
    math.inf,
    "it's",
    b"\x00\xff",
    Decimal("1.20"),
    NOON,
    NOON.replace(tzinfo=None),
    NOON.date(),
    NOON.time(),
]
FILTERS: list[Filter] = [
    *(Compare(op, "c", 1) for op in COMPARISONS),
    *(Compare("=", "c", value) for value in VALUES),
    In("c", tuple(VALUES)),
    IsNull("c"),
    NotNull("c"),
    StartsWith("c", "x"),
    EndsWith("c", "x"),
    Contains("c", "x"),
    And((IsNull("a"), Or((NotNull("b"), Not(Compare("<", "c", 3)))))),
]


@pytest.mark.parametrize("filter_", FILTERS, ids=str)
def test_json_keeps_everything(filter_: Filter) -> None:
    """What crosses as JSON comes back equal, types included."""
    again = of_json(json.loads(json.dumps(to_json(filter_))))
    assert again == filter_
    if isinstance(filter_, Compare):
        assert isinstance(again, Compare)
        assert type(again.value) is type(filter_.value)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ({"type": "timestamp", "value": 1_793_536_215_250_000}, NOON),
        ({"type": "timestamp", "value": "2026-11-01T13:30:15.250+01:00"}, NOON),
        ({"type": "timestamp", "value": "2026-11-01T12:30:15.250"}, NOON),
        ({"type": "timestamp_ntz", "value": 1_793_536_215_250_000}, NOON.replace(tzinfo=None)),
        ({"type": "date", "value": 0}, dt.date(1970, 1, 1)),
        ({"type": "date", "value": "2026-11-01"}, NOON.date()),
        ({"type": "double", "value": "-Infinity"}, -math.inf),
        ({"type": "binary", "value": "AP8="}, b"\x00\xff"),
    ],
)
def test_literals_as_an_engine_writes_them(literal: dict[str, object], value: object) -> None:
    """Numbers since 1970 and ISO texts mean the same."""
    assert of_json({"op": "=", "column": "c", "value": literal}) == Compare("=", "c", value)


@pytest.mark.parametrize(
    "json_",
    [
        {},
        {"op": "like", "column": "c"},
        {"op": "="},
        {"op": "=", "column": "c", "value": {"type": "void", "value": 1}},
        {"op": "=", "column": "c", "value": {"type": "date", "value": "soon"}},
        {"op": "not", "child": None},
    ],
)
def test_what_is_no_filter_is_refused(json_: dict[str, object]) -> None:
    """A broken form is an error of the request, not a crash."""
    with pytest.raises(LakewardError, match="is not a filter"):
        of_json(json_)


def test_filters_read_like_sql() -> None:
    """Plans show them as a person would have written them."""
    shown = And((Compare(">=", "dt", "it's"), In("n", (1, None)), Not(IsNull("b")), StartsWith("s", "x")))
    assert str(shown) == "(dt >= 'it''s' AND n IN (1, NULL) AND NOT b IS NULL AND s LIKE 'x%')"
    assert str(Compare("<", "at", NOON.date())) == "at < '2026-11-01'"
    assert str(Compare("=", "b", b"\x01\xff")) == "b = X'01FF'"


def test_columns_of_a_filter() -> None:
    """All of them, however deep."""
    assert columns_of(And((IsNull("a"), Or((NotNull("b"), Not(Contains("c", "x"))))))) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "literal",
    [
        {"type": "date", "value": "+10000-01-01"},
        {"type": "date", "value": "-0044-03-15"},
        {"type": "timestamp", "value": 253_402_300_800_000_000},
        {"type": "timestamp_ntz", "value": 253_402_300_800_000_000},
    ],
)
def test_a_moment_that_python_cannot_name_travels_as_it_is(literal: dict[str, object]) -> None:
    """A query for the year 10000 is no error, and leaves nothing out."""
    form = {"op": "<", "column": "d", "value": literal}
    made = of_json(form)
    assert to_json(made) == form
    assert may_match([made], {"d": Bounds(dt.date(2026, 1, 1), dt.date(2026, 1, 1), 0, 1)})
    assert to_predicate([made], Schema.of([Column("d", DATE())])) is None
    assert keeps_partition([made], {"d": dt.date(2026, 1, 1)})
