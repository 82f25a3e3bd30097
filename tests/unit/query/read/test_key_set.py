"""Rows are looked up among keys by numbers made of their columns; what is not the same key is not taken for it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.rows import key_numbers
from lakeward.query.read.key_set import KeySet

_KEY = st.tuples(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2), st.integers(0, 3))
_SCHEMA = pa.schema({"a": pa.int64(), "b": pa.int16(), "c": pa.date32()})


def rows(keys: list[tuple[int, int, int]]) -> pa.RecordBatch:
    """Rows with these keys, and a column beside them."""
    days = [dt.date(2026, 1, 1) + dt.timedelta(c) for _, _, c in keys]
    columns = [pa.array([a for a, _, _ in keys]), pa.array([b for _, b, _ in keys], pa.int16()), pa.array(days)]
    table = pa.table([*columns, pa.array(range(len(keys)))], schema=_SCHEMA.append(pa.field("v", pa.int64())))
    return table.combine_chunks().to_batches()[0]


@given(st.sets(_KEY, min_size=1, max_size=40), st.lists(_KEY, min_size=1, max_size=40))
def test_a_row_is_held_if_its_key_is_there(keys: set[tuple[int, int, int]], asked: list[tuple[int, int, int]]) -> None:
    """Whatever the numbers are."""
    found = KeySet.of(pa.Table.from_batches([rows(sorted(keys)).select(_SCHEMA.names)]))
    assert found is not None
    held = found.holds(rows(asked))
    assert held is not None
    assert held.tolist() == [key in keys for key in asked]


def test_keys_with_the_same_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row with another key is not taken for it; two such keys make no set."""
    monkeypatch.setattr(key_numbers, "_SPREAD", np.uint64(0))
    one = KeySet.of(pa.table({"k": [5]}))
    assert one is not None
    held = one.holds(pa.record_batch({"k": [4, 5, 6]}))
    assert held is not None
    assert held.tolist() == [False, True, False]
    assert KeySet.of(pa.table({"k": [5, 6]})) is None


def test_many_keys_among_many_rows() -> None:
    """As many as there are in a tail; rows in pieces that begin anywhere."""
    random = np.random.default_rng(3)
    numbers = random.permutation(200_000)
    found = KeySet.of(pa.table({"k": numbers[:20_000], "n": numbers[:20_000] % 7}))
    assert found is not None
    asked = pa.record_batch({"k": np.arange(200_000), "n": np.arange(200_000) % 7}).slice(11)
    held = found.holds(asked)
    assert held is not None
    assert set((np.flatnonzero(held) + 11).tolist()) == {int(n) for n in numbers[:20_000] if n >= 11}


@pytest.mark.parametrize("values", [["a"], [0.5], [True], [b"a"], [Decimal("1.5")], []])
def test_other_keys_make_no_set(values: list[object]) -> None:
    """They are looked up in another way."""
    assert KeySet.of(pa.table({"k": pa.array(values)})) is None


def test_rows_of_another_type_are_not_judged() -> None:
    """A column may have been made wider since."""
    found = KeySet.of(pa.table({"k": [1, 2]}))
    assert found is not None
    assert found.holds(pa.record_batch({"k": pa.array([1], pa.int32())})) is None
    assert found.holds(pa.record_batch({"k": pa.array([1, None])})) is None
