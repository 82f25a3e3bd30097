"""Many changes → the last one of each key."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.rows.last_changes import last_changes


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab"))), st.integers(1, 4))
def test_the_last_of_each_key_stays_in_the_order_of_the_log(keys: list[tuple[int, str]], chunks: int) -> None:
    """Whatever the order, and however the rows are chunked."""
    rows = [{"a": a, "b": b, "n": number} for number, (a, b) in enumerate(keys)]
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "n": pa.int64()})
    size = max(1, len(rows) // chunks)
    table = pa.Table.from_batches(pa.Table.from_pylist(rows, schema).to_batches(max_chunksize=size), schema)
    last = {(row["a"], row["b"]): row for row in rows}
    assert last_changes(table, ["a", "b"]).to_pylist() == sorted(last.values(), key=lambda row: row["n"])


def test_changes_without_a_repeated_key_are_not_copied() -> None:
    """The usual case costs nothing."""
    table = pa.table({"a": [3, 1, 2]})
    assert last_changes(table, ["a"]) is table


@given(st.lists(st.integers(0, 5)))
def test_by_one_number(keys: list[int]) -> None:
    """Also where numbers ascend, and nothing has to be looked for."""
    table = pa.table({"a": pa.array(keys, pa.int64()), "n": pa.array(range(len(keys)), pa.int64())})
    last = {key: number for number, key in enumerate(keys)}
    assert last_changes(table, ["a"])["n"].to_pylist() == sorted(last.values())


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 2))))
def test_by_several_numbers(keys: list[tuple[int, int]]) -> None:
    """Only rows that may have a key twice are grouped."""
    parts = [pa.array(part, pa.int64()) for part in ([a for a, _ in keys], [b for _, b in keys], range(len(keys)))]
    last = {key: number for number, key in enumerate(keys)}
    assert last_changes(pa.table(parts, ["a", "b", "n"]), ["a", "b"])["n"].to_pylist() == sorted(last.values())
