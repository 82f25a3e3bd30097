"""What a changelog leaves of each key, against what somebody holds."""

from __future__ import annotations

import numpy as np
import pytest

from lakeward.agreement import keyed_hashes
from lakeward.agreement.keyed_hashes import ALL_KEYS, FoundRows, KeyDifferences, LastChanges, Part, compare, parts_of

CHANGES = [(1, 10, True), (2, 20, True), (1, 11, True), (3, 30, True), (3, 30, False)]


def changes_of(told: list[tuple[int, int, bool]], part: Part = ALL_KEYS) -> LastChanges:
    """Key, row, and whether it is there, one after the other."""
    made = LastChanges(part)
    for offset, (key, row, is_there) in enumerate(told):
        made.add(
            np.array([key], np.uint64), np.array([row], np.uint64), np.array([offset]), np.array([is_there], np.bool_)
        )
    return made


def found_of(rows: list[tuple[int, int]], part: Part = ALL_KEYS) -> FoundRows:
    """Key and row each."""
    made = FoundRows(part)
    made.add(np.array([k for k, _ in rows], np.uint64), np.array([r for _, r in rows], np.uint64))
    return made


def compared(rows: list[tuple[int, int]], *, is_complete: bool = True, settled_to: int = 99) -> KeyDifferences:
    """Rows against the changes above."""
    return compare(changes_of(CHANGES), found_of(rows), is_complete=is_complete, settled_to=settled_to)


def test_rows_as_the_changelog_leaves_them_agree() -> None:
    """The last change of a key counts; a deleted one is not missed."""
    found = compared([(2, 20), (1, 11)])
    assert list(found) == []
    assert (found.same, found.older, found.moving) == (2, 0, 0)


@pytest.mark.parametrize(
    ("rows", "kind", "key", "offset"),
    [
        ([(2, 20)], "lost", 1, 2),
        ([(1, 11), (2, 20), (3, 30)], "undead", 3, 4),
        ([(1, 10), (2, 20)], "changed", 1, 2),
        ([(1, 11), (2, 20), (9, 90)], "unknown", 9, None),
        ([(1, 11), (2, 20), (2, 20)], "twice", 2, None),
    ],
)
def test_each_kind_of_difference_is_named(rows: list[tuple[int, int]], kind: str, key: int, offset: int | None) -> None:
    """With the offset of the key's last change."""
    assert list(compared(rows)) == [(kind, key, offset)]


def test_a_log_that_lacks_its_beginning_does_not_know_all_keys() -> None:
    """Rows that are older than it are counted."""
    found = compared([(1, 11), (2, 20), (9, 90)], is_complete=False)
    assert list(found) == []
    assert found.older == 1


def test_keys_that_change_meanwhile_are_left_out() -> None:
    """They may be seen before or after."""
    found = compared([(1, 10), (2, 20), (3, 30)], settled_to=2)
    assert list(found) == []
    assert (found.same, found.moving) == (1, 2)


def test_parts_make_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key belongs to one of them."""
    monkeypatch.setattr(keyed_hashes, "PART_CHANGES", 2)
    monkeypatch.setattr(keyed_hashes, "_FOLD_ROWS", 1)
    rows = [(2, 20), (1, 10)]
    parts = list(parts_of(5))
    assert len(parts) == 3
    found = [
        one
        for part in parts
        for one in compare(changes_of(CHANGES, part), found_of(rows, part), is_complete=True, settled_to=99)
    ]
    assert found == [("changed", 1, 2)]
