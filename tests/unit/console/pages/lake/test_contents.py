"""What a lake's snapshots say of the rounds that made them."""

from __future__ import annotations

from lakeward.console.pages.lake.contents import SnapshotRow, rounds_of, with_moved
from lakeward.tiering.watch.round_history import PastRound


def snapshot(number: int, offsets: dict[str, int] | None, *, is_round: bool = True) -> SnapshotRow:
    """A snapshot that is so far."""
    told = None if offsets is None else tuple(offsets.items())
    return SnapshotRow(number, number * 1000, is_round, None, None, told, 0 if told is None else len(told))


def test_a_snapshot_moved_what_it_has_beyond_the_one_before() -> None:
    """A bucket that the one before does not know began at zero; the oldest one's is not known."""
    found = with_moved([snapshot(3, {"0": 10, "1": 5}), snapshot(2, {"0": 8}), snapshot(1, {"0": 2})])
    assert [row.moved for row in found] == [7, 6, None]


def test_a_table_that_was_made_and_has_no_snapshot_yet_has_none() -> None:
    """So it is between the first round's beginning and its end."""
    assert with_moved([]) == ()


def test_what_does_not_say_how_far_it_is_cannot_be_compared() -> None:
    """Apache Fluss keeps that in a document beside the lake."""
    found = with_moved([snapshot(3, {"0": 10}), snapshot(2, None), snapshot(1, {"0": 2})])
    assert [row.moved for row in found] == [None, None, None]


def test_rounds_are_told_by_snapshots_oldest_first() -> None:
    """But not those that others made upon a round."""
    rows = with_moved([snapshot(3, {"0": 10}), snapshot(2, {"0": 4}, is_round=False), snapshot(1, {"0": 4})])
    assert rounds_of(rows) == [
        PastRound(1000, rows=None, snapshot_id=1),
        PastRound(3000, rows=6, snapshot_id=3),
    ]
