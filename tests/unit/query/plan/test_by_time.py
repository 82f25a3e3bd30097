"""A log table as of a time that only its rows in the lake remember."""

from __future__ import annotations

import datetime as dt

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import Bounds, LakeFile, LakePlace, LakeSnapshot, PlacedFile
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_columns
from lakeward.query.plan.by_time import splits_by_time
from lakeward.query.plan.splits import LakeRangeSplit, LogSplit, OffsetWindow, Split
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest

PATH = TablePath("shop", "orders")
SNAPSHOT = LakeSnapshot(42, 0, {}, None, None, {})
NOON_MS = 1_793_534_400_000
_COLUMNS, _ = parse_columns("id BIGINT NOT NULL, dt STRING NOT NULL")


def table(*partition_keys: str) -> TableInfo:
    """A log table of two buckets."""
    return TableInfo(PATH, 1, 1, TableDescriptor(Schema.of(_COLUMNS), partition_keys, bucket_count=2), 0, 0)


def file(name: str, bucket: int, *partition: str, minutes: int = 0) -> PlacedFile:
    """A file whose oldest row came so many minutes after noon."""
    low = dt.datetime.fromtimestamp(NOON_MS / 1000, dt.UTC) + dt.timedelta(minutes=minutes)
    return PlacedFile(LakePlace(bucket, partition), LakeFile(name, 10, 100), {"__timestamp": Bounds(low, None)})


def found(
    info: TableInfo,
    files: list[PlacedFile],
    ends: dict[BucketId, int],
    ranges: dict[BucketId, tuple[int, int]],
    *filters: Compare,
) -> list[Split] | None:
    """The splits as of noon."""
    request = ReadRequest(PATH, filters=filters, options={"scan.timestamp-millis": str(NOON_MS)})
    return splits_by_time(info, "iceberg", SNAPSHOT, files, ends, ranges, request)


def test_rows_up_to_the_snapshots_end_and_the_log_after_it() -> None:
    """Files that are younger as a whole are left out; the time is told to who reads the others."""
    ends = {BucketId(None, 0): 50, BucketId(None, 1): 30}
    ranges = {BucketId(None, 0): (50, 55), BucketId(None, 1): (20, 20)}
    files = [file("a", 0), file("b", 1), file("late", 1, minutes=1)]
    windows = (OffsetWindow(0, 0, 50), OffsetWindow(1, 0, 30))
    assert found(table(), files, ends, ranges) == [
        LakeRangeSplit(None, "iceberg", 42, (files[0].file, files[1].file), windows, NOON_MS),
        LogSplit(None, 0, 50, 55),
    ]


def test_rows_that_nobody_has_cannot_be_read() -> None:
    """The log begins after the snapshot's end."""
    assert found(table(), [file("a", 0)], {BucketId(None, 0): 50}, {BucketId(None, 0): (51, 55)}) is None


def test_dropped_partitions_are_read_whole_and_others_pruned() -> None:
    """What the lake has of a partition that is gone is all there is; one made again goes on from there."""
    ends = {BucketId("a", 0): 5}
    ranges = {BucketId("a", 0): (0, 5), BucketId("new", 0): (0, 3)}
    files = [file("a", 0, "a"), file("gone", 0, "gone"), file("old", 0, "new"), file("pruned", 0, "z")]
    splits = found(table("dt"), files, ends, ranges, Compare("<", "dt", "q"))
    assert splits is not None
    windows = {s.partition: s.windows for s in splits if isinstance(s, LakeRangeSplit)}
    assert windows["a"] == (OffsetWindow(0, 0, 5),)
    assert [w.bucket for w in windows["gone"]] == [0, 1]
    assert windows.keys() == {"a", "gone", "new"}
    assert [s for s in splits if isinstance(s, LogSplit)] == [LogSplit("new", 0, 0, 3)]
