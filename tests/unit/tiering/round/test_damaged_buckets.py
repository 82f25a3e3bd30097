"""Which results of a round can be committed beside damage, and what is passed over on purpose."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.lake.port import WriteResult
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.tiering.round.damaged_buckets import PassedRange, before_damage, passed_ranges, read_up_to, without
from lakeward.tiering.round.split_generator import BucketLog
from lakeward.tiering.task.splits import LogRange
from lakeward.tiering.task.task import TaskResult

PATH = TablePath("db", "t")
ZERO, ONE = TableBucket(7, None, 0), TableBucket(7, None, 1)


def result(bucket: TableBucket, read_to: int, stopped: str | None = None) -> TaskResult:
    """What a task has done."""
    return TaskResult(bucket, read_to, None, WriteResult(1, 1, 1, b""), stopped=stopped)


def test_what_lies_behind_damage_is_not_committed() -> None:
    """Of the bucket that is damaged; the other one is."""
    before, stop, behind, other = result(ZERO, 10), result(ZERO, 14, "bad"), result(ZERO, 30), result(ONE, 30)
    assert before_damage([behind, stop, before, other]) == ([stop, before, other], [behind])


def test_splits_go_around_what_is_passed_over() -> None:
    """At either end, in the middle, or whole."""
    split = LogRange(ZERO, None, 10, 20)

    def left(start: int, stop: int) -> list[tuple[int, int]]:
        return [(s.start, s.stop) for s in without([split], [PassedRange(None, 0, start, stop)])]  # type: ignore[union-attr]

    assert left(12, 15) == [(10, 12), (15, 20)]
    assert left(0, 15) == [(15, 20)]
    assert left(15, 99) == [(10, 15)]
    assert left(5, 30) == []
    assert left(20, 30) == [(10, 20)]
    assert without([split], [PassedRange(None, 1, 12, 15)]) == [split]


def test_a_range_counts_as_read_once_it_is_reached() -> None:
    """Behind the rows before it, or where the lake stands; not beyond the log, and not for a bucket that stopped."""
    logs = [BucketLog(ZERO, None, 0, 20)]
    told = [PassedRange(None, 0, 10, 25)]
    assert read_up_to({ZERO: 10}, logs, [], told) == {ZERO: 20}
    assert read_up_to({ZERO: 3}, logs, [result(ZERO, 10)], told) == {ZERO: 20}
    assert read_up_to({ZERO: 3}, logs, [result(ZERO, 8, "bad")], told) == {ZERO: 8}


def test_ranges_are_written_as_they_are_read() -> None:
    """A word that is none is refused with its option."""
    ranges = [PassedRange(None, 0, 5, 9), PassedRange("2026", 3, 1, 2)]
    assert passed_ranges(",".join(map(str, ranges)), PATH) == ranges
    assert passed_ranges(None, PATH) == []
    with pytest.raises(LakewardError, match="skip-damaged"):
        passed_ranges("0:5", PATH)
