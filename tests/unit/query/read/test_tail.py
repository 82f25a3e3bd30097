"""The changelog's tail laid over rows of the lake."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.query.read.tail import Tail

_SCHEMA = pa.schema({"id": pa.int64(), "part": pa.string(), "v": pa.int64()})
_KEYS = st.tuples(st.integers(0, 6), st.sampled_from("ab"))


def merged(cold: dict[tuple[int, str], int], tail: Tail) -> dict[tuple[int, str], int]:
    """Rows by key; refuses a key that comes twice."""
    rows = [{"id": k[0], "part": k[1], "v": v} for k, v in cold.items()]
    left = tail.untouched_rows(pa.RecordBatch.from_pylist(rows, _SCHEMA)).to_pylist() if rows else []
    found = [((r["id"], r["part"]), r["v"]) for r in [*left, *tail.rows.to_pylist()]]
    assert len(found) == len({key for key, _ in found})
    return dict(found)


def changes(made: list[tuple[tuple[int, str], int | None]], state: dict[tuple[int, str], int]) -> pa.Table:
    """A changelog of puts and deletes (None), which are applied to the state."""
    rows = []
    for key, value in made:
        row = {"id": key[0], "part": key[1]}
        old = state.get(key)
        if value is None:
            if old is not None:
                rows.append({**row, "v": state.pop(key), "_change_type": "-D"})
            continue
        if old is not None:
            rows.append({**row, "v": old, "_change_type": "-U"})
        rows.append({**row, "v": value, "_change_type": "+I" if old is None else "+U"})
        state[key] = value
    return pa.Table.from_pylist(rows, _SCHEMA.append(pa.field("_change_type", pa.string())))


@given(
    st.dictionaries(_KEYS, st.integers(0, 9)),
    st.lists(st.tuples(_KEYS, st.none() | st.integers(0, 9)), max_size=20),
)
def test_the_last_change_of_each_key_wins(
    cold: dict[tuple[int, str], int], made: list[tuple[tuple[int, str], int | None]]
) -> None:
    """Whatever happened to a key since the snapshot, the answer is the state after it."""
    state = dict(cold)
    log = changes(made, state)
    assert merged(cold, Tail(log, ["id", "part"])) == state


@pytest.mark.parametrize("type_", [pa.int64(), pa.string(), pa.float64()])
def test_one_key_column_of_any_type(type_: pa.DataType) -> None:
    """The quick way for one column gives the same."""
    schema = pa.schema({"k": type_})
    keys = pa.array([1, 2, 3]).cast(type_)
    log = pa.table([keys.slice(1, 1), pa.array(["-D"])], schema=schema.append(pa.field("_change_type", pa.string())))
    tail = Tail(log, ["k"])
    left = tail.untouched_rows(pa.RecordBatch.from_arrays([keys], schema=schema))
    assert left.column("k").to_pylist() == [keys[0].as_py(), keys[2].as_py()]
    assert tail.rows.num_rows == 0
