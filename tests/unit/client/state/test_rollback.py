"""Changes taken back."""

from __future__ import annotations

import pyarrow as pa

from lakeward.client.state.rollback import Rollback

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("v", pa.int64()), ("_change_type", pa.string())])


def changes(*rows: tuple[int, str, int, str]) -> pa.Table:
    """Changes in the order of the log."""
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def test_the_first_change_of_a_key_says_what_was_there() -> None:
    """Inserted keys go, updated and deleted ones get their old row back, whatever came after."""
    undo = Rollback(
        changes(
            (1, "x", 10, "-U"),
            (1, "x", 11, "+U"),
            (2, "x", 20, "-D"),
            (1, "x", 11, "-D"),
            (3, "x", 30, "+I"),
            (2, "x", 21, "+I"),
        ),
        ["a", "b"],
    )
    now = pa.RecordBatch.from_pylist(
        [{"a": 2, "b": "x", "v": 21}, {"a": 3, "b": "x", "v": 30}, {"a": 1, "b": "y", "v": 5}]
    )
    assert undo.untouched_rows(now).to_pylist() == [{"a": 1, "b": "y", "v": 5}]
    assert [(r["a"], r["v"]) for r in undo.restored.to_pylist()] == [(1, 10), (2, 20)]


def test_a_changelog_without_old_rows_takes_nothing_back() -> None:
    """Where nobody knows the old row, the present one stays."""
    undo = Rollback(changes((1, "x", 11, "+U")), ["a", "b"])
    now = pa.RecordBatch.from_pylist([{"a": 1, "b": "x", "v": 11}])
    assert undo.untouched_rows(now) == now
    assert undo.restored.num_rows == 0
    assert Rollback(changes(), ["a", "b"]).untouched_rows(now) == now
