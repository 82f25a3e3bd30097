"""What changes of state look like in the log."""

from __future__ import annotations

import pytest
from merge_tables import INT, STRING, PkTable, Row, apply_records

from lakeward.storage.kv.merge.changelog import Change, ChangeType, Image, changes
from lakeward.storage.kv.merge.row_merger import Fate, Merged

NEW, BEFORE, AFTER, GONE = ChangeType.INSERT, ChangeType.UPDATE_BEFORE, ChangeType.UPDATE_AFTER, ChangeType.DELETE
COLUMNS = [("k", INT), ("a", INT), ("b", STRING)]


def test_change_types_have_their_numbers_on_the_wire() -> None:
    """+A, +I, -U, +U, -D are 0 to 4."""
    assert [c.value for c in (ChangeType.APPEND, NEW, BEFORE, AFTER, GONE)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("old", "merged", "full", "wal"),
    [
        (None, b"new", [Change(NEW, b"new")], [Change(NEW, b"new")]),
        (b"old", b"new", [Change(BEFORE, b"old"), Change(AFTER, b"new")], [Change(AFTER, b"new")]),
        (b"old", Fate.KEEP, [], []),
        (None, Fate.KEEP, [], []),
        (b"old", Fate.REMOVE, [Change(GONE, b"old")], [Change(GONE, b"old")]),
    ],
)
def test_each_change_has_its_records(old: bytes | None, merged: Merged, full: list[Change], wal: list[Change]) -> None:
    """FULL shows what was there before an update, WAL only what is there now."""
    assert list(changes(old, merged, Image.FULL)) == full
    assert list(changes(old, merged, Image.WAL)) == wal


def test_later_records_of_a_key_see_earlier_ones() -> None:
    """A key twice in a batch is inserted, then updated; deleted and written again it is new."""
    state: dict[bytes, bytes] = {}
    table = PkTable(COLUMNS)
    records: list[tuple[bytes, Row | None]] = [
        (b"1", (1, 1, "x")),
        (b"1", (1, 2, "x")),
        (b"2", None),
        (b"1", None),
        (b"1", None),
        (b"1", (1, 3, "y")),
    ]
    assert table.apply(state, records) == [
        ("INSERT", (1, 1, "x")),
        ("UPDATE_BEFORE", (1, 1, "x")),
        ("UPDATE_AFTER", (1, 2, "x")),
        ("DELETE", (1, 2, "x")),
        ("INSERT", (1, 3, "y")),
    ]
    assert {key: table.row(value) for key, value in state.items()} == {b"1": (1, 3, "y")}


def test_a_first_row_table_logs_only_first_rows() -> None:
    """What an engine keeps is not logged."""
    table = PkTable(COLUMNS, properties={"table.merge-engine": "first_row"})
    assert table.apply({}, [(b"1", (1, 1, "x")), (b"1", (1, 2, "y")), (b"1", None)]) == [("INSERT", (1, 1, "x"))]


def test_blind_upserts_are_all_updates() -> None:
    """Where old rows are not looked for, an insert cannot be told from an update; deletes still show the old row."""
    table = PkTable(COLUMNS, properties={"table.changelog.image": "WAL"})
    row = table.value(1, 1, "x")
    records = [(b"1", row), (b"1", row), (b"1", None), (b"1", None)]
    log = apply_records({}, records, table.merger(), Image.WAL, blind=True)
    assert log == [Change(AFTER, row), Change(AFTER, row), Change(GONE, row)]
