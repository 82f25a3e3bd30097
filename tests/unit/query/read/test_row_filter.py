"""Rows that filters drop are left out; in doubt they stay."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from lakeward.model.data_types import BIGINT, CHAR, DATE, DECIMAL, DOUBLE, INT, STRING, TIMESTAMP
from lakeward.model.schema import Schema
from lakeward.query.read.row_filter import RowFilter
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
from lakeward.records.arrow.arrow_types import arrow_schema

_SCHEMA = Schema.of(
    {
        "i": INT(),
        "l": BIGINT(),
        "s": STRING(),
        "c": CHAR(3),
        "n": DECIMAL(10, 2),
        "f": DOUBLE(),
        "d": DATE(),
        "us": TIMESTAMP(6),
        "ms": TIMESTAMP(3),
    }.items()
)
_DAY, _NOON = dt.date(2026, 11, 1), dt.datetime(2026, 11, 1, 12)
_ROWS = pa.RecordBatch.from_pylist(
    [
        {"i": n, "l": n, "s": f"item {n}", "c": "a", "n": Decimal(n), "f": float(n), "d": _DAY + dt.timedelta(n)}
        | {"us": _NOON + dt.timedelta(n), "ms": _NOON + dt.timedelta(n)}
        for n in range(10)
    ]
    + [dict.fromkeys(_SCHEMA.names)],
    arrow_schema(_SCHEMA),
)


def left(*filters: Filter, schema: Schema = _SCHEMA) -> list[Any]:
    """What stays of the rows, by the first column."""
    return RowFilter(filters, schema).matching(_ROWS).column("i").to_pylist()


@pytest.mark.parametrize(
    ("filter_", "stays"),
    [
        (Compare("=", "i", 3), [3]),
        (Compare("<=>", "l", 3), [3]),
        (Compare("<", "n", Decimal("1.5")), [0, 1]),
        (Compare(">=", "d", _DAY + dt.timedelta(8)), [8, 9]),
        (Compare(">", "us", _NOON + dt.timedelta(8)), [9]),
        (Compare(">", "s", "item 8"), [9]),
        (In("i", (1, 2, 77)), [1, 2]),
        (In("n", (Decimal(1), Decimal("2.00"))), [1, 2]),
        (IsNull("s"), [None]),
        (StartsWith("s", "item 4"), [4]),
        (EndsWith("s", "5"), [5]),
        (Contains("s", "m 6"), [6]),
        (And((Compare(">", "i", 3), Compare("<", "i", 6))), [4, 5]),
        (Or((Compare("=", "i", 3), IsNull("i"))), [3, None]),
        (Not(Compare(">", "i", 1)), [0, 1]),
        (Not(Or((Compare(">", "i", 1), NotNull("i")))), []),
        (And((Not(Compare("<=>", "i", 1)), IsNull("i"))), [None]),
    ],
    ids=str,
)
def test_what_does_not_match_is_left_out(filter_: Filter, stays: list[Any]) -> None:
    """Comparisons with NULL are not known, and such rows leave; Spark does the same with what is left."""
    assert left(filter_) == stays


@pytest.mark.parametrize(
    "filter_",
    [
        Compare("=", "f", 3.0),  # NaN has an order of its own
        Compare("=", "c", "b"),  # padded by some
        Compare("=", "ms", _NOON),  # counted in milliseconds
        Compare("=", "n", Decimal("1.005")),  # more digits than the column has
        Compare("=", "i", 2**40),
        Compare("=", "i", "3"),
        Compare("=", "i", value=True),
        Compare("=", "d", _NOON),
        Compare("=", "i", None),
        In("i", (1, None)),
        Contains("c", "b"),
        And((Compare("=", "i", 3), Compare("=", "f", 3.0))),
        Not(And((Compare("=", "i", 3), Compare("=", "f", 3.0)))),
        NotNull("i"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_stays(filter_: Filter) -> None:
    """Spark looks at every row again."""
    assert left(filter_) == _ROWS.column("i").to_pylist()


def test_where_most_rows_stay_they_all_do() -> None:
    """A copy of nearly everything is no gain."""
    assert len(left(Compare(">", "i", 1))) == 8
    assert len(left(Compare(">", "i", 0))) == 11


def test_columns_that_are_not_read_are_not_judged() -> None:
    """Rows without the column cannot be."""
    assert len(left(Compare("=", "s", "x"), schema=_SCHEMA.select(["i"]))) == 11
