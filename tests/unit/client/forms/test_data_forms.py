"""Rows in every form that people hold them in become batches that fit the table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lakeward.client.forms.data_forms import batches_of
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns

SCHEMA = Schema.of(parse_columns("id BIGINT, name STRING, price DECIMAL(10, 2), at TIMESTAMP(3)")[0])
MOMENT = dt.datetime(2024, 5, 1, 12, 30)
ROWS = [
    {"id": 1, "name": "a", "price": Decimal("1.50"), "at": MOMENT},
    {"id": 2, "name": None, "price": None, "at": None},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
TABLE = pa.Table.from_pylist(ROWS)


def rows_of(data: Any, schema: Schema = SCHEMA) -> list[dict]:
    """Through the front door and back."""
    return [row for batch in batches_of(data, schema) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        ROWS,
        COLUMNS,
        pl.from_arrow(TABLE),
        TABLE.to_pandas(),
        iter([ROWS[:1], ROWS[1:]]),
        (row for row in ROWS),
        [TABLE.slice(0, 1), TABLE.slice(1, 1)],
        {name: pa.array(values) for name, values in COLUMNS.items()},
    ],
    ids=lambda d: type(d).__name__,
)
def test_every_form_gives_the_same_rows(data: Any) -> None:
    """Arrow, pandas, polars, dicts and iterables of them mean the same."""
    assert rows_of(data) == ROWS


def test_order_does_not_matter_and_missing_columns_are_null() -> None:
    """Columns are found by name."""
    assert rows_of([{"name": "x", "id": 5}]) == [{"id": 5, "name": "x", "price": None, "at": None}]


def test_rows_may_differ_in_their_keys() -> None:
    """A key that only some rows have is NULL in the others."""
    rows = rows_of([{"id": 1}, {"name": "b"}])
    assert [(r["id"], r["name"]) for r in rows] == [(1, None), (None, "b")]


def test_pandas_numbers_with_gaps_stay_whole() -> None:
    """A float column without fractions fits a BIGINT, gaps become NULL."""
    frame = pd.DataFrame({"id": [1.0, None, 3.0]})
    assert [r["id"] for r in rows_of(frame)] == [1, None, 3]


def test_what_pandas_calls_missing_is_null() -> None:
    """In dicts, too; Arrow alone would make the first of January of the year 1 of a NaT."""
    schema = Schema.of(parse_columns("d DATE, at TIMESTAMP(3), n BIGINT, s STRING")[0])
    rows = [{"d": pd.NaT, "at": pd.NaT, "n": pd.NA, "s": pd.NA}, {"d": MOMENT.date(), "at": MOMENT, "n": 1, "s": "x"}]
    assert rows_of(rows, schema) == [dict.fromkeys(rows[0]), rows[1]]


def test_a_column_of_pandas_without_a_value_is_of_any_type() -> None:
    """An empty column of a CSV file, say, is NaN in pandas, and so a number."""
    frame = pd.DataFrame({"id": [1, 2], "name": [np.nan, np.nan], "price": [None, None], "at": [np.nan, None]})
    assert rows_of(frame) == [{"id": n, "name": None, "price": None, "at": None} for n in (1, 2)]
    with pytest.raises(LakewardError, match="'name' is STRING"):
        rows_of(pd.DataFrame({"id": [1, 2], "name": [np.nan, 1.0]}))


def test_moments_among_objects_of_pandas_are_whole_or_refused() -> None:
    """Arrow takes them for Python's, which have microseconds."""
    moments = [pd.Timestamp("2026-01-01 00:00:00.123456789"), None, pd.Timestamp("2026-01-02")]
    frame = pd.DataFrame({"at": pd.Series(moments, dtype=object)})
    found = rows_of(frame, Schema.of(parse_columns("at TIMESTAMP(9)")[0]))
    assert [row["at"] for row in found] == moments
    with pytest.raises(LakewardError, match="'at' is TIMESTAMP"):
        rows_of(frame, Schema.of(parse_columns("at TIMESTAMP(6)")[0]))
    far = pd.DataFrame({"at": pd.Series([MOMENT.replace(year=9999)], dtype=object)})
    assert rows_of(far) == [{"id": None, "name": None, "price": None, "at": MOMENT.replace(year=9999)}]


def test_maps_of_pandas_go_in_as_they_came_out() -> None:
    """As lists of pairs, which is what Arrow gives pandas, or as dicts; a missing one is NULL."""
    schema = Schema.of(parse_columns("id INT, m MAP<STRING, INT>, r ROW<m MAP<STRING, INT>>")[0])
    rows = [
        {"id": 1, "m": [("a", 1), ("b", None)], "r": {"m": [("c", 3)]}},
        {"id": 2, "m": None, "r": None},
        {"id": 3, "m": [], "r": {"m": None}},
    ]
    (batch,) = batches_of(rows, schema)
    (again,) = batches_of(batch.to_pandas(), schema)
    assert again.to_pylist() == rows
    (of_dicts,) = batches_of(pd.DataFrame({"id": [1, 2], "m": [{"a": 1}, float("nan")]}), schema)
    assert of_dicts.column("m").to_pylist() == [[("a", 1)], None]


def test_a_column_of_mixed_values_is_refused_by_name() -> None:
    """pandas keeps anything in a column; Arrow's own error does not say what the table has there."""
    with pytest.raises(LakewardError, match="Column 'name' is STRING; the values do not fit"):
        rows_of(pd.DataFrame({"id": [1, 2], "name": ["a", 5]}))


@pytest.mark.parametrize(
    ("columns", "value"),
    [
        ("m MAP<STRING, INT>", [None]),
        ("m MAP<STRING, INT>", [("a", 1), None]),
        ("m MAP<STRING, INT>", np.array([None])),
        ("m ARRAY<MAP<STRING, INT>>", [[("a", 1)], [None]]),
        ("m ROW<a INT, n MAP<STRING, INT>>", {"a": 1, "n": [None]}),
        ("m MAP<STRING, MAP<STRING, INT>>", {"a": [None]}),
        ("m MAP<STRING, MAP<STRING, INT>>", [("a", [None])]),
    ],
)
def test_a_map_with_none_for_a_pair_is_refused(columns: str, value: Any) -> None:
    """Arrow ends the process over it, in whatever it is nested and in whatever form it comes."""
    schema = Schema.of(parse_columns(columns)[0])
    for data in ([{"m": value}], {"m": [value]}, pd.DataFrame({"m": pd.Series([value], dtype=object)})):
        with pytest.raises(LakewardError, match=r"'m' is .* among these pairs is None"):
            rows_of(data, schema)


def test_an_empty_write_is_no_rows() -> None:
    """Nothing in, nothing out."""
    assert rows_of([]) == []
    assert rows_of({"id": []}) == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([{"id": 1, "nmae": "x"}], "nmae"),
        ([{"id": "not a number"}], "id"),
        ({"id": [2**70]}, "id"),
        ({"id": [1], "name": ["a", "b"]}, "length"),
        ([{"name": "half a \udc80 character"}], "name"),
        (pd.DataFrame({"name": ["half a \udc80 character", None]}, dtype=object), "'name' is STRING"),
        (pd.DataFrame({"name": [2**63, "x"]}), "'name' is STRING"),
        ([{"id": np.datetime64("2026-01-01")}], "'id' is BIGINT"),
        ([{"at": 20260101}], "'at' is TIMESTAMP"),
        ([{"name": np.datetime64("NaT", "generic")}], "'name' is STRING"),
        (pd.DataFrame([[1, 2, 3]], columns=["id", "name", "name"]), "column 'name' more than once"),
        ("rows", "str is not rows"),
        (5, "int is not rows"),
        ([1, 2], "int is not rows"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(data: Any, told: str) -> None:
    """The message says which column, or what was given instead of rows."""
    with pytest.raises(LakewardError, match=told) as caught:
        rows_of(data)
    assert caught.value.code is ErrorCode.INVALID_TARGET_COLUMN


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("n BIGINT", [{"n": 1.5}]),
        ("n INT", [{"n": 1}, {"n": 2.25}]),
        ("n DATE", [{"n": MOMENT}]),
        ("n ARRAY<INT>", [{"n": [1, 2.5]}]),
    ],
)
def test_a_plain_value_that_would_lose_something_is_refused(columns: str, rows: list[dict]) -> None:
    """Arrow cuts such values when it is told the type; we do not let it."""
    with pytest.raises(LakewardError, match="'n'"):
        rows_of(rows, Schema.of(parse_columns(columns)[0]))


def test_plain_values_that_lose_nothing_are_taken() -> None:
    """A whole number may come as a float, a number for FLOAT is rounded to what a FLOAT holds."""
    schema = Schema.of(parse_columns("n BIGINT, f FLOAT")[0])
    assert rows_of([{"n": 2.0, "f": 0.5}], schema) == [{"n": 2, "f": 0.5}]


@pytest.mark.parametrize("as_column", [list, pd.Series], ids=["list", "Series"])
def test_a_moment_of_another_zone_is_no_wall_clock(as_column: Any) -> None:
    """It is refused with the type that takes it; UTC's own wall clock is what it seems."""
    utc = MOMENT.replace(tzinfo=dt.UTC)
    east = MOMENT.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert [row["at"] for row in rows_of({"at": as_column([utc])})] == [MOMENT]
    with pytest.raises(LakewardError, match=r"'at' is TIMESTAMP\(3\).*\+02:00 has a time zone; .* TIMESTAMP_LTZ"):
        rows_of({"at": as_column([utc, east])})


def test_a_frame_without_rows_has_none_of_any_type() -> None:
    """pandas calls an empty column float or object; unknown columns are still refused."""
    assert rows_of(pd.DataFrame({"id": [], "name": [], "at": []})) == []
    assert rows_of(pd.DataFrame({"id": pd.Series([], dtype=object), "price": []})) == []
    with pytest.raises(LakewardError, match="nme"):
        rows_of(pd.DataFrame({"nme": []}))


def test_a_lazy_frame_is_to_be_collected() -> None:
    """It has no rows before."""
    with pytest.raises(LakewardError, match=r"call \.collect\(\) first"):
        rows_of(pl.DataFrame({"id": [1]}).lazy())
