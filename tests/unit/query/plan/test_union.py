"""Which tier each part of a table is read from."""

from __future__ import annotations

import json

import pytest

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeDeletes, LakeFile, LakePlace, PlacedFile
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_columns
from lakeward.query.lake.cold_part import ColdPart
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.splits import (
    LakeRangeSplit,
    LakeSplit,
    LogSplit,
    OffsetWindow,
    Split,
    StateSplit,
    Tier,
    split_of_json,
)
from lakeward.query.plan.union import TAIL_CHANGES_MAX, lake_splits, union_splits
from lakeward.query.request.request import ReadRequest

PATH = TablePath("shop", "orders")
REQUEST = ReadRequest(PATH)
B0, B1, B2 = (BucketId(None, n) for n in range(3))


def table(*, keyed: bool) -> TableInfo:
    """A table of three buckets."""
    columns, _ = parse_columns("id BIGINT NOT NULL, v INT")
    schema = Schema.of(columns, ("id",) if keyed else ())
    return TableInfo(PATH, 1, 1, TableDescriptor(schema, bucket_count=3), 0, 0)


def file(name: str, rows: int = 10, *deletes: int) -> PlacedFile:
    """A data file, with files of so many deletes."""
    made = tuple(LakeDeletes(f"{name}-d{n}", rows) for n, rows in enumerate(deletes))
    return PlacedFile(LakePlace(0), LakeFile(name, rows, rows * 100, made))


def cold(files: dict[BucketId, list[PlacedFile]], offsets: dict[BucketId, int]) -> ColdPart:
    """What the lake has."""
    return ColdPart("iceberg", 42, 0, offsets, files, sum(map(len, files.values())))


def test_a_log_table_is_files_and_logs_from_the_snapshot_on() -> None:
    """A bucket that the lake does not know is read from its log alone; one without news from its files alone."""
    have = cold({B0: [file("a"), file("b")], B1: [file("c")]}, {B0: 100, B1: 50})
    found = union_splits(table(keyed=False), have, {B0: (20, 130), B1: (50, 50), B2: (0, 5)}, REQUEST)
    assert [s for s in found if isinstance(s, LogSplit)] == [LogSplit(None, 0, 100, 130), LogSplit(None, 2, 0, 5)]
    lakes = [s for s in found if isinstance(s, LakeSplit)]
    assert {f.path for s in lakes for f in s.files} == {"a", "b", "c"}
    assert {s.tier for s in lakes} == {Tier.LAKE_ONLY}


def test_a_log_that_has_lost_rows_the_lake_lacks_is_asked_again() -> None:
    """Retention has passed the snapshot: there is a newer one."""
    with pytest.raises(
        OvertakenError, match=r"bucket 0: the lake's snapshot ends at offset 100, the log now begins at 120"
    ):
        union_splits(table(keyed=False), cold({}, {B0: 100}), {B0: (120, 130)}, REQUEST)


def test_a_keyed_bucket_is_both_halves_in_one_split() -> None:
    """HYBRID with changes, LAKE_ONLY without, the server's state where the lake has nothing or too little."""
    have = cold({B0: [file("a")], B1: [file("b")]}, {B0: 100, B1: 50})
    found = union_splits(table(keyed=True), have, {B0: (0, 130), B1: (0, 50), B2: (0, 7)}, REQUEST)
    assert [s.tier for s in found] == [Tier.HYBRID, Tier.LAKE_ONLY, Tier.LOG_ONLY]
    assert isinstance(found[0], LakeSplit)
    assert (found[0].log_start, found[0].log_stop) == (100, 130)
    assert found[2] == StateSplit(None, 2, as_of=7, offsets=7)


@pytest.mark.parametrize("stretch", [(120, 130), (0, 100 + TAIL_CHANGES_MAX + 1)])
def test_a_tail_that_is_gone_or_too_long_is_the_servers_state(stretch: tuple[int, int]) -> None:
    """Memory stays bounded."""
    have = cold({B0: [file("a")]}, {B0: 100})
    (split,) = union_splits(table(keyed=True), have, {B0: stretch}, REQUEST)
    assert isinstance(split, StateSplit)


def test_a_partition_that_the_cluster_dropped_is_still_in_the_lake() -> None:
    """For either kind of table."""
    gone = BucketId("old", 0)
    for keyed in (False, True):
        (split,) = union_splits(table(keyed=keyed), cold({gone: [file("a")]}, {}), {}, REQUEST)
        assert (split.id, split.tier) == (gone, Tier.LAKE_ONLY)


@pytest.mark.parametrize("keyed", [False, True])
def test_a_partition_made_anew_goes_on_from_what_the_lake_has(keyed: bool) -> None:
    """Late rows that bring an expired partition back must not hide its history."""
    old = BucketId("a", 0)
    found = union_splits(table(keyed=keyed), cold({old: [file("a")]}, {}), {old: (0, 5)}, REQUEST)
    assert [f.path for s in found if isinstance(s, LakeSplit) for f in s.files] == ["a"]
    assert {s.tier for s in found} == ({Tier.HYBRID} if keyed else {Tier.LAKE_ONLY, Tier.LOG_ONLY})


@pytest.mark.parametrize("offsets", [{B0: 100}, {}])
def test_a_keyed_bucket_as_of_a_time_needs_its_changes(offsets: dict[BucketId, int]) -> None:
    """Where the log's beginning is gone, nobody knows which changes before it came after that time."""
    asked = ReadRequest(PATH, options={"scan.timestamp-millis": "5"})
    have = cold({B0: [file("a")]}, offsets)
    with pytest.raises(OvertakenError, match="the log now begins at 120"):
        union_splits(table(keyed=True), have, {B0: (120, 130)}, asked)
    (split,) = union_splits(table(keyed=True), cold({B0: [file("a")]}, {B0: 150}), {B0: (120, 120)}, asked)
    assert split.tier is Tier.LAKE_ONLY


def test_small_files_go_together_and_none_is_lost() -> None:
    """Up to the rows that a task should have."""
    have = cold({B0: [file(str(n), 40) for n in range(10)]}, {B0: 0})
    found = lake_splits(have, ReadRequest(PATH, options={"scan.split.rows": "100"}))
    assert [[f.path for f in s.files] for s in found if isinstance(s, LakeSplit)] == [
        [str(n), str(n + 1)] for n in range(0, 10, 2)
    ]


def test_rows_expected_are_without_those_deleted() -> None:
    """A file of deletes that is about several files counts once."""
    first, second = file("a", 10, 3), file("b", 10)
    shared = LakeFile("b", 10, 1000, first.file.deletes)
    split = LakeSplit(None, 0, "iceberg", 42, (first.file, shared, second.file))
    assert split.lake_rows == 27


@pytest.mark.parametrize(
    "split",
    [
        LogSplit("p", 1, 2, 3),
        StateSplit(None, 1, 5, 6, 7),
        LakeSplit("p", 1, "iceberg", 42, (file("a", 10, 3).file, file("b").file), 5, 9),
        LakeRangeSplit(None, "paimon", 42, (file("a").file,), (OffsetWindow(0, 5, 9), OffsetWindow(3, 0, 1)), 7),
    ],
)
def test_splits_cross_as_json(split: Split) -> None:
    """There and back, and their tier is said."""
    text = json.dumps(split.to_json())
    assert split_of_json(json.loads(text)) == split
    assert json.loads(text)["tier"] == split.tier
