"""Small tasks go together, large ones by themselves."""

from __future__ import annotations

from lake_tables import TABLE_ID, table_info

from lakeward.model.bucket import TableBucket
from lakeward.tiering.task.bundles import bundles
from lakeward.tiering.task.splits import LogRange, StateAtOffset, TieringSplit
from lakeward.tiering.task.task import TieringTask

INFO = table_info({"id": "BIGINT"})


def tasks(*splits: TieringSplit) -> list[TieringTask]:
    return [TieringTask("here", {}, INFO.path, TABLE_ID, split, "fake", b"") for split in splits]


def few(bucket: int, rows: int = 10, partition: str | None = None, start: int = 0) -> LogRange:
    return LogRange(TableBucket(TABLE_ID, None, bucket), partition, start, start + rows)


def cut(*splits: TieringSplit, slots: int = 1) -> list[list[TieringSplit]]:
    return [[task.split for task in bundle] for bundle in bundles(tasks(*splits), slots)]


def test_what_is_large_goes_alone_and_first() -> None:
    """So does the state of a bucket, whose rows nobody has counted."""
    large, state = few(0, 1_000_000), StateAtOffset(TableBucket(TABLE_ID, None, 1), None, 5)
    assert cut(few(3), large, state, few(2)) == [[large], [state], [few(2), few(3)]]


def test_neighbours_go_together_and_every_slot_has_some() -> None:
    """Buckets of one partition are read by one scan."""
    splits = [few(bucket, partition=name) for bucket in range(3) for name in "ab"]
    assert [[s.partition for s in bundle] for bundle in cut(*splits, slots=2)] == [["a"] * 3, ["b"] * 3]  # type: ignore[union-attr]


def test_a_bundle_is_bounded_and_has_a_bucket_once() -> None:
    """In rows and in tasks; what was cut around a range that is passed over is of one bucket."""
    assert [len(bundle) for bundle in cut(*(few(n, 16_000) for n in range(9)))] == [4, 4, 1]
    assert [len(bundle) for bundle in cut(*(few(n) for n in range(300)))] == [128, 128, 44]
    assert [len(bundle) for bundle in cut(few(0), few(0, start=20), few(1))] == [1, 2]
