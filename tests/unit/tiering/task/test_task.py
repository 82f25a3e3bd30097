"""One split read and written."""

from __future__ import annotations

import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from lake_tables import TABLE_ID, lake_rows, table_info

from lakeward.client.forms.damage import DamagedError
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import ManualClock
from lakeward.tiering.task import task as tasks
from lakeward.tiering.task.splits import LogRange
from lakeward.tiering.task.task import TieringTask, run_task, run_tasks

INFO = table_info({"id": "BIGINT"})
SPLIT = LogRange(TableBucket(TABLE_ID, 4, 1), "a$b", 10, 20)
TASK = TieringTask("here", {"client.password": "hush"}, INFO.path, TABLE_ID, SPLIT, "fake", b"writing")


class Writer:
    """A format, and its only writer."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails = fails
        self.told: list[Any] = []

    def writer(self, writing: bytes, place: LakePlace) -> Writer:
        self.told.append((writing, place))
        return self

    def write(self, rows: pa.RecordBatch) -> None:
        if self.fails is not None:
            raise self.fails
        self.told.append(rows.num_rows)

    def finish(self) -> WriteResult:
        return WriteResult(3, 30, 1, b"record")

    def abort(self) -> None:
        self.told.append("aborted")


def run(monkeypatch: pytest.MonkeyPatch, writer: Writer, task: TieringTask = TASK) -> Any:
    """Run a task whose split holds three rows in two batches."""
    batches = [lake_rows(INFO, 1, 10, [{"id": 1}, {"id": 2}]), lake_rows(INFO, 1, 12, [{"id": 3}])]
    monkeypatch.setattr(tasks, "read_log", lambda *_, **__: iter(batches))
    monkeypatch.setattr(tasks, "lake_format", lambda _: writer)

    class Cluster:
        info = INFO

        def table(self, name: str) -> Any:
            return self

    cluster: Any = Cluster()
    return run_task(task, lambda _: cluster, ManualClock())


def test_a_task_says_how_far_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the end of its split, whatever came; and of when the newest row is."""
    writer = Writer()
    result = run(monkeypatch, writer)
    assert (result.bucket, result.read_to, result.newest_ms) == (SPLIT.bucket, 20, 1_700_000_000_000)
    assert result.written.record == b"record"
    assert writer.told == [(b"writing", LakePlace(1, ("a", "b"))), 2, 1]


def test_tasks_together_are_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at once where that can be; else one after the other, and a damaged bucket stops by itself."""
    rows = [lake_rows(INFO, 1, 10, [{"id": 1}])]
    other = replace(TASK, split=replace(SPLIT, bucket=TableBucket(TABLE_ID, 4, 2)))
    cluster: Any = SimpleNamespace(info=INFO)
    cluster.table = lambda name: cluster
    broken = DamagedError(INFO.path, BucketId("a$b", 2), 15, 16, "torn")

    def together(table: Any, splits: Any, bytes_max: int, *, aside: bool) -> Any:
        if outcome == "damaged":
            raise broken
        return None if outcome == "too wide" else ((iter(rows), []) for _ in splits)

    def alone(table: Any, split: LogRange, left_out: Any, *, aside: bool) -> Any:
        if outcome == "damaged" and split.bucket.bucket == 2 and split.stop > 15:
            raise broken
        return iter(rows)

    monkeypatch.setattr(tasks, "read_logs", together)
    monkeypatch.setattr(tasks, "read_log", alone)
    monkeypatch.setattr(tasks, "lake_format", lambda _: Writer())
    for outcome, ends in (("whole", (20, 20)), ("too wide", (20, 20)), ("damaged", (20, 15))):
        first, second = run_tasks([TASK, other], lambda _: cluster, ManualClock())
        assert (first.bucket.bucket, second.bucket.bucket) == (1, 2)
        assert (first.read_to, second.read_to) == ends
        assert bool(second.stopped) == (outcome == "damaged")


def test_what_was_written_is_removed_when_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reason."""
    for wrong in (ErrorCode.STORAGE.error("full"), KeyboardInterrupt()):
        writer = Writer(wrong)  # type: ignore[arg-type]
        with pytest.raises(type(wrong)):
            run(monkeypatch, writer)
        assert writer.told[-1] == "aborted"


def test_a_table_created_anew_meanwhile_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are not the old table's."""
    with pytest.raises(LakewardError, match="created anew"):
        run(monkeypatch, Writer(), replace(TASK, table_id=99))


def test_a_task_travels_and_shows_no_secret() -> None:
    """It is pickled for executors, and printed in their logs."""
    assert pickle.loads(pickle.dumps(TASK)) == TASK
    assert "hush" not in repr(TASK)
    assert "shop.orders" in repr(TASK)
