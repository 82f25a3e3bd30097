"""Pieces of a bucket: few of them, each offset in exactly one, and little written again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakeward.client.forms.results import BucketId
from lakeward.lake.iceberg.now.hot_files import HotFile
from lakeward.lake.port import LakeFile, LakePlace
from lakeward.rest.now.bucket_tail import BucketTail, TailWriter, Wanted

ID = BucketId(None, 0)


class Files:
    """Takes rows, and counts them."""

    def __init__(self) -> None:
        self.rows = 0
        self.made = 0

    def write_rows(self, _place: LakePlace, rows: Any) -> list[HotFile]:
        """One file of all rows."""
        count = sum(batch.num_rows for batch in rows)
        self.rows += count
        self.made += 1
        return [HotFile(f"f{self.made}", count, SimpleNamespace())]  # type: ignore[arg-type]


class Rows:
    """A row for each offset."""

    def of_log(self, _id: BucketId, start: int, stop: int) -> list[pa.RecordBatch]:
        """The offsets of a stretch."""
        return [pa.record_batch([pa.array(np.arange(start, stop))], ["id"])]


def writer(files: Files, now_ms: int = 0, oldest_ms: int = -1) -> TailWriter:
    """Of a log table."""
    return TailWriter(Rows(), files, (), now_ms, oldest_ms)  # type: ignore[arg-type]


def check(tail: BucketTail, start: int, stop: int) -> None:
    """Each offset is in exactly one piece."""
    assert [p.start for p in tail.pieces] == [start, *(p.stop for p in tail.pieces[:-1])]
    assert tail.pieces[-1].stop == stop


def test_a_tail_that_grows_is_written_a_few_times_and_stays_few_files() -> None:
    """A thousand loads with a row each."""
    files, tail = Files(), None
    for stop in range(1, 1001):
        tail = writer(files).follow(tail, Wanted(ID, LakePlace(0), 0, stop))
        check(tail, 0, stop)
        assert len(tail.pieces) <= 12
    assert files.rows <= 12 * 1000


def test_what_was_tiered_leaves_and_what_is_left_is_used_again() -> None:
    """Pieces before the lake's end go; one that reaches over it is written again, as far as it is still hot."""
    files = Files()
    tail = writer(files).follow(None, Wanted(ID, LakePlace(0), 0, 1000))
    tail = writer(files).follow(tail, Wanted(ID, LakePlace(0), 0, 1100))
    assert [(p.start, p.stop) for p in tail.pieces] == [(0, 1000), (1000, 1100)]
    files.rows = 0
    tail = writer(files).follow(tail, Wanted(ID, LakePlace(0), 900, 1100))
    check(tail, 900, 1100)
    assert files.rows == 100
    tail = writer(files).follow(tail, Wanted(ID, LakePlace(0), 1000, 1100))
    assert files.rows == 100


def test_what_is_old_is_written_again() -> None:
    """So that the age of a file says whether it can be anybody's."""
    files = Files()
    wanted = Wanted(ID, LakePlace(0), 0, 10)
    tail = writer(files, now_ms=1000).follow(None, wanted)
    assert writer(files, now_ms=2000, oldest_ms=500).follow(tail, wanted) == tail
    assert writer(files, now_ms=2000, oldest_ms=1500).follow(tail, wanted).pieces[0].data != tail.pieces[0].data


class GoneFiles(Files):
    """A lake whose files were removed meanwhile."""

    def keep_keys(self, _files: Any, _keys: pa.Table) -> None:
        """Nothing is kept."""

    def positions(self, files: Any, _keys: pa.Table) -> Any:
        """What is looked at is not there."""
        raise FileNotFoundError(*files)


class Changes(Rows):
    """An insert for each offset."""

    def of_log(self, id_: BucketId, start: int, stop: int) -> list[pa.RecordBatch]:
        """The offsets of a stretch, as changes."""
        rows = super().of_log(id_, start, stop)[0]
        return [rows.append_column("_change_type", pa.array(["+I"] * rows.num_rows))]


def test_a_file_that_is_gone_asks_for_another_plan() -> None:
    """What was written before it was noticed is known, to be removed."""
    made = TailWriter(Changes(), GoneFiles(), ["id"], 0, -1)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match=r"gone\.parquet"):
        made.follow(None, Wanted(ID, LakePlace(0), 0, 10, (LakeFile("gone.parquet", 1, 1),)))
    assert [file.path for file in made.written] == ["f1"]
