"""Partition names of Arrow rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import InvalidError
from lakeward.model.data_types import BOOLEAN, DATE, INT, STRING, TIMESTAMP
from lakeward.records.arrow.partition_values import partition_names


def test_one_key() -> None:
    """Names come in order of appearance, rows point to them."""
    rows = pa.table({"day": pa.array([19797, 19798, 19797], pa.date32()), "x": [1, 2, 3]})
    indices, names = partition_names(rows, ["day"], [DATE()])
    assert names == ["2024-03-15", "2024-03-16"]
    assert indices.tolist() == [0, 1, 0]
    assert indices.dtype == np.int32


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["eu", "us", "a-b"]), st.booleans()), min_size=1))
def test_several_keys(rows) -> None:
    """Every row's name is its values joined, whatever combinations occur."""
    n, region, flag = zip(*rows, strict=True)
    batch = pa.record_batch({"n": pa.array(n, pa.int32()), "region": pa.array(region), "flag": pa.array(flag)})
    indices, names = partition_names(batch, ["region", "n", "flag"], [STRING(), INT(), BOOLEAN()])
    expected = [f"{r}${i}${'true' if f else 'false'}" for i, r, f in rows]
    assert [names[i] for i in indices] == expected
    assert names == list(dict.fromkeys(expected))


def test_chunks_and_other_types() -> None:
    """Chunked columns and data that only casts to the key's type are taken."""
    column = pa.chunked_array([pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()])
    indices, names = partition_names(pa.table({"k": column}), ["k"], [STRING()])
    assert (indices.tolist(), names) == ([0, 1], ["x", "y"])


def test_no_rows_have_no_names() -> None:
    """An empty batch is fine."""
    rows = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int32())})
    indices, names = partition_names(rows, ["a", "b"], [STRING(), INT()])
    assert (indices.tolist(), names) == ([], [])


def test_a_null_key_is_refused() -> None:
    """A row without a partition has no place to go."""
    with pytest.raises(InvalidError, match="'k' has 1 NULL"):
        partition_names(pa.table({"k": ["a", None]}), ["k"], [STRING()])


def test_values_that_make_no_name_are_refused() -> None:
    """Text that could climb out of a directory never becomes a name."""
    with pytest.raises(InvalidError, match="is invalid"):
        partition_names(pa.table({"k": ["../../etc"]}), ["k"], [STRING()])


def test_timestamps_before_the_epoch() -> None:
    """Time runs forward on both sides of 1970."""
    _, names = partition_names(pa.table({"t": pa.array([-1], pa.timestamp("us"))}), ["t"], [TIMESTAMP(6)])
    assert names == ["1969-12-31-23-59-59_999999"]
