"""Keys in every form that people hold them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lakeward.client.keys.key_forms import KeyForms
from lakeward.errors import InvalidError
from lakeward.model.table import TablePath
from lakeward.model.type_text import parse_columns

PATH = TablePath("db", "t")
ONE = parse_columns("id BIGINT NOT NULL")[0]
TWO = parse_columns("day STRING NOT NULL, id INT NOT NULL")[0]


def keys_of(given: Any, columns: Any) -> list[tuple[Any, ...]]:
    """Through the front door and back."""
    batch = KeyForms(columns, PATH).batch(given)
    assert batch.schema.names == [c.name for c in columns]
    return [tuple(row.values()) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        (k for k in (1, 2)),
        range(1, 3),
        {1, 2},
        [(1,), [2]],
        [{"id": 1}, {"id": 2, "more": "is left aside"}],
        {"id": [1, 2]},
        {"id": pa.array([1, 2]), "more": 5},
        {"id": np.array([1, 2])},
        np.array([1, 2], np.int16),
        pa.array([1, 2], pa.uint8()),
        pa.chunked_array([[1], [2]]),
        pd.Series([1, 2]),
        pd.Index([1, 2]),
        pl.Series([1, 2]),
        pd.DataFrame({"id": [1, 2], "x": [0, 0]}),
        pl.DataFrame({"x": [0, 0], "id": [1, 2]}),
        pa.table({"id": [1, 2]}),
        pa.record_batch({"id": [1, 2]}),
    ],
    ids=lambda g: f"{type(g).__module__.split('.')[0]}-{type(g).__name__}",
)
def test_many_keys_of_one_column(given: Any) -> None:
    """All of these are the keys 1 and 2."""
    assert keys_of(given, ONE) == [(1,), (2,)]


@pytest.mark.parametrize("given", [7, (7,), {"id": 7}, {"id": 7, "x": [1]}, np.int32(7)], ids=repr)
def test_one_key_of_one_column(given: Any) -> None:
    """A value alone is a key."""
    assert keys_of(given, ONE) == [(7,)]


@pytest.mark.parametrize(
    "given",
    [
        [("a", 1), ("b", 2)],
        [["a", 1], ["b", 2]],
        [{"id": 1, "day": "a"}, {"day": "b", "id": 2}],
        {"id": [1, 2], "day": ["a", "b"]},
        pa.table({"id": [1, 2], "day": ["a", "b"], "z": [0, 0]}),
    ],
    ids=lambda g: type(g).__name__,
)
def test_keys_of_two_columns(given: Any) -> None:
    """Tuples go by the order of the key, all else by name."""
    assert keys_of(given, TWO) == [("a", 1), ("b", 2)]


def test_one_key_of_two_columns() -> None:
    """A tuple, or a dict."""
    assert keys_of(("a", 1), TWO) == keys_of({"id": 1, "day": "a"}, TWO) == [("a", 1)]


def test_text_and_bytes_are_values_not_lists() -> None:
    """A string is one key, not its letters."""
    assert keys_of("abc", parse_columns("k STRING NOT NULL")[0]) == [("abc",)]
    assert keys_of([b"ab", b"c"], parse_columns("k BYTES NOT NULL")[0]) == [(b"ab",), (b"c",)]


@pytest.mark.parametrize("given", [[], (k for k in ()), pa.table({"id": pa.array([], pa.int64())}), {"id": []}])
def test_no_keys(given: Any) -> None:
    """An empty batch with the right columns."""
    assert keys_of(given, ONE) == []


@pytest.mark.parametrize(
    ("given", "columns", "says"),
    [
        ([None], ONE, r"keys for db\.t: Column 'id' is NOT NULL"),
        (None, ONE, "NOT NULL"),
        (["x"], ONE, "'id' is BIGINT"),
        ([1.5], ONE, "'id' is BIGINT"),
        ([2**70], ONE, "'id' is BIGINT"),
        ([{"di": 1}], ONE, "'id' of the key is missing"),
        (pd.DataFrame({"di": [1]}), ONE, "'id' of the key is missing"),
        ([(1, 2)], ONE, "each tuple has 1 values"),
        ([("a",)], TWO, r"\(day, id\), so each tuple has 2 values"),
        ([1], TWO, "tuples in that order"),
        (pa.array([1]), TWO, "one array was given"),
        ("ab", TWO, "tuples in that order"),
    ],
)
def test_what_is_no_key_is_refused_with_the_table_and_the_column(given: Any, columns: Any, says: str) -> None:
    """Before anything is sent."""
    with pytest.raises(InvalidError, match=says):
        KeyForms(columns, PATH).batch(given)
