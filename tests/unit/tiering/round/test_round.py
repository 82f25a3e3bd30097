"""A round on a lake and a cluster made of dictionaries, cut off at every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest
from lake_tables import TABLE_ID, table_info

from lakeward.client.admin.lake import ReportedSnapshot, TieringRound
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.port import LakePlace, LakeSnapshot, WriteResult
from lakeward.lake.round_properties import RoundProperties
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath
from lakeward.runtime.clock import ManualClock
from lakeward.tiering.round.round import RoundContext, RoundReport, run_round
from lakeward.tiering.task.splits import LogRange
from lakeward.tiering.task.task import TaskResult, TieringTask

STEPS = ("tasks", "prepare", "lake commit", "lake commit done", "report", "report done")


class CutError(Exception):
    """A power cut."""


@dataclass
class World:
    """A log of one bucket, a lake that holds ranges of offsets, a server that knows a snapshot; and where it is cut."""

    info: TableInfo
    start: int = 0
    end: int = 10
    in_lake: list[tuple[int, int]] = field(default_factory=list)
    snapshots: list[LakeSnapshot] = field(default_factory=list)
    told: ReportedSnapshot | None = None
    cut: str = ""
    overtakes: bool = False
    discarded: int = 0
    resets: list[str] = field(default_factory=list)
    slots: int = 1

    def context(self) -> RoundContext:
        """All parts are this one."""
        world: Any = self
        return RoundContext(world, world, world, ManualClock(), "here", {})

    def round(self) -> RoundReport:
        """One round."""
        return run_round(self.context(), TieringRound(TABLE_ID, self.info.path, 0, 4))

    def _at(self, step: str) -> None:
        if self.cut == step:
            self.cut = ""
            raise CutError(step)

    # -- where its lake is

    given: ClassVar[dict[str, str]] = {}
    is_changed = False

    def place_of(self, info: TableInfo) -> None:
        """Nowhere."""

    # -- the connection and its table

    @property
    def lake(self) -> World:
        return self

    def table(self, name: str) -> World:
        return self

    def alter_table(self, name: str, *, reset: list[str]) -> None:
        self.resets += reset

    def offsets(self, at: str) -> dict[BucketId, int]:
        return {BucketId(None, 0): self.start if at == "earliest" else self.end}

    def snapshot(self, path: object) -> ReportedSnapshot | None:
        return self.told

    def prepare(self, path: object, table_id: int, offsets: Mapping[TableBucket, int]) -> str:
        self._at("prepare")
        return f"offsets {sum(offsets.values())}"

    # -- the lake, and the server's commit: told apart by what they are given

    def commit(self, first: Any, second: Any, third: Any, **told: Any) -> Any:
        if isinstance(second, RoundProperties):
            return self._lake_commit(first, second, third)
        self._at("report")
        self.told = ReportedSnapshot(first, second, dict(told["new_offsets"]))
        self._at("report done")
        return None

    def of(self, info: TableInfo) -> World:
        return self

    def load(self, path: TablePath) -> World | None:
        return self if self.snapshots else None

    def ensure(self, info: TableInfo) -> World:
        self.is_changed = True
        return self

    def latest(self) -> LakeSnapshot | None:
        return self.snapshots[-1] if self.snapshots else None

    def writing(self, places: Sequence[LakePlace]) -> list[bytes]:
        return [b""] * len(places)

    def discard(self, written: Sequence[bytes]) -> None:
        self.discarded += len(written)

    def _lake_commit(self, written: Sequence[bytes], round_: RoundProperties, after: int | None) -> LakeSnapshot:
        self._at("lake commit")
        if self.overtakes:
            raise LakeConflictError("another was first")
        ranges = [tuple(map(int, part.split(b"-"))) for part in written]
        self.in_lake += ranges  # type: ignore[arg-type]
        made = LakeSnapshot(len(self.snapshots) + 1, 0, round_.offsets, round_.offsets_path, round_.tiering_epoch, {})
        self.snapshots.append(made)
        self._at("lake commit done")
        return made

    # -- the runner

    def run(self, name: str, tasks: Sequence[TieringTask]) -> list[TaskResult]:
        self._at("tasks")
        return [self._done(task.split) for task in tasks if isinstance(task.split, LogRange)]

    def _done(self, split: LogRange) -> TaskResult:
        return TaskResult(
            split.bucket, split.stop, 5, WriteResult(split.rows, 8, 1, f"{split.start}-{split.stop}".encode())
        )

    def assert_exact(self) -> None:
        """Each offset up to the lake's own word is there once; the server knows of the newest snapshot."""
        latest = self.latest()
        assert latest is not None
        assert latest.offsets is not None
        held = sorted(offset for start, stop in self.in_lake for offset in range(start, stop))
        assert held == list(range(self.end))
        assert latest.offsets == {bucket(): self.end}
        assert self.told is not None
        assert self.told.snapshot_id == latest.snapshot_id


def bucket() -> TableBucket:
    """The only one."""
    return TableBucket(TABLE_ID, None, 0)


@pytest.fixture
def world() -> World:
    """Ten rows in the log, none in the lake."""
    return World(replace_properties(table_info({"id": "BIGINT"}, buckets=1)))


def replace_properties(info: TableInfo, **custom: str) -> TableInfo:
    """The table with a lake format and custom properties."""
    descriptor = replace(
        info.descriptor,
        properties={"table.datalake.format": "iceberg"},
        custom_properties={f"lakeward.tiering.{k.replace('_', '-')}": v for k, v in custom.items()},
    )
    return replace(info, descriptor=descriptor)


@pytest.mark.parametrize("news", [0, 5])
@pytest.mark.parametrize("step", STEPS)
def test_a_round_cut_off_at_any_step_is_made_good_by_the_next(world: World, step: str, news: int) -> None:
    """Whether there is news by then or not."""
    world.cut = step
    with pytest.raises(CutError):
        world.round()
    world.end += news
    report = world.round()
    assert report.repaired == (step in {"lake commit done", "report"})
    world.assert_exact()
    assert world.round() == RoundReport(world.info.path, None, repaired=False)


def test_a_round_reports_what_it_moved(world: World) -> None:
    """Rows, bytes, files and tasks; the snapshot carries the epoch."""
    report = world.round()
    assert (report.rows, report.file_bytes, report.files, report.tasks) == (10, 8, 1, 1)
    assert world.snapshots[-1].tiering_epoch == 4


def test_files_of_a_round_that_was_overtaken_are_removed(world: World) -> None:
    """Of any other failure it cannot be known whether the lake took them."""
    world.overtakes = True
    with pytest.raises(LakeConflictError):
        world.round()
    assert world.discarded == 1
    world.overtakes, world.cut = False, "lake commit"
    with pytest.raises(CutError):
        world.round()
    assert world.discarded == 1


def test_a_table_that_was_created_anew_is_not_continued(world: World) -> None:
    """Neither by a late round of the old one, nor in the old one's lake table."""
    world.info = replace(world.info, table_id=8)
    with pytest.raises(LakewardError, match="dropped and created anew"):
        world.round()
    world.info = replace(world.info, table_id=TABLE_ID)
    world.snapshots = [LakeSnapshot(1, 0, {TableBucket(3, None, 0): 5}, None, 1, {})]
    with pytest.raises(LakewardError, match="earlier table of this name") as wrong:
        world.round()
    assert wrong.value.code is ErrorCode.LAKE_TABLE_ALREADY_EXIST
    assert not world.is_changed


def test_a_snapshot_of_apache_fluss_is_continued_by_what_the_server_knows(world: World) -> None:
    """Its own offsets are in a document that only the server reads; if that lags behind, we wait."""
    world.snapshots = [LakeSnapshot(77, 0, None, "/remote/x.offsets", None, {})]
    with pytest.raises(LakewardError, match="made by another tiering service"):
        world.round()
    world.told = ReportedSnapshot(TABLE_ID, 77, {bucket(): 4})
    world.round()
    assert world.in_lake == [(4, 10)]


def test_a_paused_table_is_not_tiered(world: World) -> None:
    """On a coordinator that gives it out nevertheless; unless it was asked for since its last round."""
    plain = world.info
    world.info = replace_properties(plain, paused="true")
    assert world.round().snapshot_id is None
    world.info = replace_properties(plain, paused="true", requested="5")
    assert world.round().rows == 10


def test_lost_rows_are_skipped_only_when_that_was_said(world: World) -> None:
    """And only once: the next gap is a new question."""
    world.round()
    world.start, world.end = 20, 30
    with pytest.raises(LakewardError, match="rows between are gone"):
        world.round()
    world.info = replace_properties(world.info, skip_lost="true")
    assert world.round().rows == 10
    assert world.resets == ["lakeward.tiering.skip-lost"]
