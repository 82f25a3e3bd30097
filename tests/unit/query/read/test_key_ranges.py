"""Files and batches that no changed key can be in are left alone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.query.read.key_ranges import KeyRanges

_INTS = st.lists(st.integers(0, 30), min_size=1, max_size=8)


@given(_INTS, _INTS)
def test_a_range_without_a_key_is_known(keys: list[int], values: list[int]) -> None:
    """And only such a range."""
    low, high = min(values), max(values)
    told = KeyRanges(pa.table({"k": keys})).may_meet({"k": (low, high)})
    assert told == any(low <= key <= high for key in keys)


DAY = dt.date(2026, 11, 1)


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        (pa.array([10, 20]), 15, 21),
        (pa.array(["b", "d"]), "c", "a"),
        (pa.array([DAY, DAY + dt.timedelta(5)]), DAY + dt.timedelta(1), DAY - dt.timedelta(1)),
        (pa.array([1, 2], pa.timestamp("us")), dt.datetime(1970, 1, 1, microsecond=1), dt.datetime(2000, 1, 1)),
        (pa.array([b"b", b"d"]), b"c", b"e"),
    ],
)
def test_a_file_is_judged_by_its_statistics(tmp_path: Path, values: pa.Array, inside: Any, outside: Any) -> None:
    """Row group by row group, for keys of many types."""
    pq.write_table(pa.table({"k": values, "v": [1, 2]}), tmp_path / "f.parquet")
    for key, told in ((inside, True), (outside, False)):
        keys = pa.table({"k": pa.array([key], values.type)})
        assert KeyRanges(keys).may_be_in(tmp_path / "f.parquet") is told


def test_in_doubt_a_file_may_hold_a_key(tmp_path: Path) -> None:
    """No statistics, no such column, numbers with fractions."""
    pq.write_table(pa.table({"k": [1, 2], "f": [0.5, 0.5]}), tmp_path / "f.parquet", write_statistics=False)
    pq.write_table(pa.table({"f": [0.5, 0.5]}), tmp_path / "other.parquet")
    for name in ("f.parquet", "other.parquet"):
        assert KeyRanges(pa.table({"k": [9]})).may_be_in(tmp_path / name)
        assert KeyRanges(pa.table({"f": [9.5]})).may_be_in(tmp_path / name)
    assert KeyRanges(pa.table({"k": ["text"]})).may_meet({"k": (1, 2)})


def test_every_column_of_a_key_must_meet(tmp_path: Path) -> None:
    """One that cannot is enough to leave a file alone."""
    pq.write_table(pa.table({"a": [1, 5], "b": ["x", "x"]}), tmp_path / "f.parquet")
    assert KeyRanges(pa.table({"a": [3], "b": ["x"]})).may_be_in(tmp_path / "f.parquet")
    assert not KeyRanges(pa.table({"a": [3], "b": ["y"]})).may_be_in(tmp_path / "f.parquet")
