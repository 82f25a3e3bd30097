"""Rows are sorted by key, and the last of each is known."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.paimon.read.key_order import last_of_each, sorted_by

KEYS = st.tuples(st.integers(-3, 3), st.sampled_from(["", "a", "ä", "z", "𝄞"]))


@given(st.lists(KEYS, max_size=30))
def test_rows_are_sorted_and_the_last_of_a_key_is_kept(keys: list[tuple[int, str]]) -> None:
    """By one key or by two, the result is that of sorting in Python."""
    rows = pa.table(
        {"a": pa.array([a for a, _ in keys], pa.int64()), "b": pa.array([b for _, b in keys], pa.string())}
    ).append_column("n", pa.array(range(len(keys)), pa.int64()))
    for names in (["a"], ["b"], ["a", "b"]):
        found = sorted_by(rows, names, "n")
        expected = sorted(
            rows.to_pylist(),
            key=lambda row: (*(v.encode() if isinstance(v := row[n], str) else v for n in names), row["n"]),
        )
        assert found.to_pylist() == expected
        last = {tuple(row[n] for n in names): row for row in expected}
        assert last_of_each(found, names).to_pylist() == list(last.values())


def test_rows_without_equal_keys_are_the_same_rows() -> None:
    """Nobody has to write them twice."""
    rows = pa.table({"a": [1, 2, 3]})
    assert last_of_each(rows, ["a"]) is rows


def test_rows_that_come_out_of_order_are_put_in_order() -> None:
    """Files that are merged overlap."""
    rows = pa.table({"a": [1, 1, 0], "n": [5, 4, 3]})
    assert sorted_by(rows, ["a"], "n").to_pylist() == [{"a": 0, "n": 3}, {"a": 1, "n": 4}, {"a": 1, "n": 5}]
