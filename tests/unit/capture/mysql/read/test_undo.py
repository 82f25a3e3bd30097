"""Rows put back, and rows brought forward."""

from __future__ import annotations

import pyarrow as pa

from lakeward.capture.mysql.read.undo import BagUndo, ChangedRows, KeyedUndo

SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.string()), ("v", pa.int64())])
INSERT, BEFORE, AFTER, DELETE = 1, 2, 3, 4


def rows(*values: tuple[int, str, int]) -> pa.RecordBatch:
    """A batch."""
    return pa.RecordBatch.from_pylist([dict(zip("abv", value, strict=True)) for value in values], schema=SCHEMA)


def changed(*values: tuple[int, int, str, int]) -> ChangedRows:
    """Changes: kind and row."""
    return ChangedRows(rows(*(value[1:] for value in values)), pa.array([value[0] for value in values], pa.uint8()))


CHANGES = [
    changed((INSERT, 1, "x", 10), (BEFORE, 2, "x", 20), (AFTER, 2, "x", 21), (DELETE, 3, "x", 30)),
    changed((INSERT, 3, "x", 31), (BEFORE, 2, "x", 21), (AFTER, 2, "x", 22)),
    changed((DELETE, 1, "x", 10), (INSERT, 4, "y", 40)),
]
NOW = rows((2, "x", 22), (2, "y", 99), (3, "x", 31), (4, "y", 40), (5, "x", 50))


def test_the_first_change_of_a_key_says_what_was_before() -> None:
    """What was inserted is gone, what was deleted or updated is back, what nobody touched stays."""
    undo = KeyedUndo(CHANGES, SCHEMA, ("a", "b"), by_last=False)
    assert undo.keep(NOW) == rows((2, "y", 99), (5, "x", 50))
    assert pa.Table.from_batches(undo.rows_back).to_pylist() == rows((2, "x", 20), (3, "x", 30)).to_pylist()


def test_the_last_change_of_a_key_says_what_is_after() -> None:
    """A snapshot that is earlier than the place is brought forward."""
    undo = KeyedUndo(CHANGES, SCHEMA, ("a", "b"), by_last=True)
    before = rows((2, "x", 20), (3, "x", 30), (5, "x", 50))
    assert undo.keep(before) == rows((5, "x", 50))
    expected = rows((3, "x", 31), (2, "x", 22), (4, "y", 40))
    assert pa.Table.from_batches(undo.rows_back).to_pylist() == expected.to_pylist()


def test_without_a_key_rows_are_counted() -> None:
    """As many of equal rows go and come as were inserted and deleted."""
    changes = changed(*[(INSERT, 1, "x", 1)] * 2, (DELETE, 2, "y", 2), (INSERT, 3, "z", 3), (DELETE, 3, "z", 3))
    undo = BagUndo([changes], is_forward=False)
    assert undo.keep(rows(*[(1, "x", 1)] * 3, (4, "w", 4))) == rows((1, "x", 1), (4, "w", 4))
    assert [batch.to_pylist() for batch in undo.rows_back] == [rows((2, "y", 2)).to_pylist()]
