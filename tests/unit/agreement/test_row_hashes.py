"""Hashes of rows: the same for equal values wherever they lie, others for others."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakeward.agreement import row_hashes
from lakeward.agreement.row_hashes import hash_column, hash_rows

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False, None]),
    "tiny": (pa.int8(), [1, -1, None, 0]),
    "long": (pa.int64(), [1, 2**40, None, -5]),
    "double": (pa.float64(), [0.5, -0.0, 0.0, float("inf"), None]),
    "text": (pa.string(), ["", "a", "ab", "ba", "é", None, "a" * 1000]),
    "bytes": (pa.binary(), [b"", b"\0", b"\0\0", None]),
    "fixed": (pa.binary(3), [b"abc", b"acb", None]),
    "decimal": (pa.decimal128(20, 2), [Decimal("1.00"), Decimal("-1.00"), None]),
    "time": (pa.timestamp("us", "UTC"), [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2), None]),
    "day": (pa.date32(), [dt.date(2026, 1, 1), None]),
    "list": (pa.list_(pa.string()), [[], ["a"], ["a", "b"], ["b", "a"], ["ab"], [None], None]),
    "row": (pa.struct([("a", pa.int32()), ("b", pa.string())]), [{"a": 1, "b": "x"}, {"a": None, "b": "x"}, None]),
    "map": (pa.map_(pa.string(), pa.int32()), [[], [("a", 1)], [("a", 2)], [("b", 1)], None]),
    "nested": (pa.list_(pa.list_(pa.int32())), [[[1], [2]], [[1, 2]], [[], [1, 2]], None]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_that_differ_have_hashes_that_differ(name: str) -> None:
    """NULL among them, and what is empty."""
    type_, values = COLUMNS[name]
    assert len(set(hash_column(pa.array(values, type_)).tolist())) == len(values)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_has_the_same_hash_wherever_it_lies(name: str) -> None:
    """In a slice, behind others, alone."""
    type_, values = COLUMNS[name]
    whole = pa.array([*values, *values], type_)
    expected = hash_column(pa.array(values, type_)).tolist()
    for start in range(len(values)):
        piece = whole.slice(start, len(values))
        assert hash_column(piece).tolist() == [*expected[start:], *expected[:start]]
    assert [hash_column(pa.array([v], type_))[0] for v in values] == expected


def test_long_values_are_hashed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many at once as fit; a value that is longer than that comes alone."""
    values = pa.array(["x" * n for n in (3, 50, 7, 0, 90, 12)] + ["y" * 90])
    lists = pa.array([[1] * 30, [2], [], [1] * 31], pa.list_(pa.int64()))
    monkeypatch.setattr(row_hashes, "_PIECE", 64)
    found = hash_column(values)
    assert len(set(found.tolist())) == len(values)
    assert [hash_column(values.slice(n, 1))[0] for n in range(len(values))] == found.tolist()
    assert len(set(hash_column(lists).tolist())) == len(lists)


def test_the_pairs_of_a_map_have_no_order() -> None:
    """A lake may hand them back in another one."""
    type_ = pa.map_(pa.string(), pa.int32())
    one, other = (hash_column(pa.array([pairs], type_)) for pairs in ([("a", 1), ("b", 2)], [("b", 2), ("a", 1)]))
    assert one == other


def test_the_column_of_a_value_counts() -> None:
    """Two columns that swap their values are another row."""
    rows = pa.record_batch({"a": pa.array([1, 2]), "b": pa.array([2, 1])})
    first, second = hash_rows(rows, ["a", "b"])
    assert first != second
    assert hash_rows(rows, ["b", "a"]).tolist() == [second, first]
    assert hash_rows(rows, []).dtype == np.uint64
