"""Rows are found by their keys, by one column or by several, whichever side has more of them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.iceberg.read.row_positions import matching_rows


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["b", "a"], ["b"]])
def test_rows_are_found_by_their_keys(names: list[str]) -> None:
    """By one column, or by several, in whatever order a file has them."""
    rows = pa.table({"a": [1, 2, 3, 2], "b": ["x", "y", "z", "y"]})
    keys = pa.table({"a": [2, 9], "b": ["y", "q"]}).select(names)
    assert matching_rows(rows, keys).tolist() == [1, 3]


@given(st.lists(st.integers(0, 30), max_size=20), st.sets(st.integers(0, 60), max_size=60))
def test_few_rows_and_many_keys(rows: list[int], keys: set[int]) -> None:
    """And the other way round; a key that is there twice is found twice; another width is no other number."""
    held = pa.table({"id": pa.array(rows, pa.int32())})
    found = matching_rows(held, pa.table({"id": pa.array(sorted(keys), pa.int64())}))
    assert found.tolist() == [at for at, value in enumerate(rows) if value in keys]
