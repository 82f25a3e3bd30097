"""One split read and written. All it needs travels with it; nothing is visible until the driver commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.damage import DamagedError, LeftOut
from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.lake.rows.system_columns import TIMESTAMP
from lakeward.model.bucket import TableBucket
from lakeward.model.partition import SEPARATOR
from lakeward.model.table import TablePath
from lakeward.runtime.clock import Clock
from lakeward.tiering.task.dead_letters import DeadLetter, LetterSorter
from lakeward.tiering.task.split_reader import read_log, read_logs, read_state
from lakeward.tiering.task.splits import LogRange, TieringSplit

_MICROS_PER_MS = 1000
#: Rows that are read at once wait for their files; where they take more than this, each bucket is read by itself.
_BYTES_AT_ONCE = 64 << 20


@dataclass(frozen=True, slots=True)
class TieringTask:
    """What a task is told. `client` holds the client's settings, secrets among them: never print it."""

    bootstrap: str
    client: Mapping[str, str]
    path: TablePath
    table_id: int
    split: TieringSplit
    lake_format: str
    writing: bytes
    #: Whether rows that do not fit are put aside, or fail the task.
    takes_letters: bool = False

    def __repr__(self) -> str:
        return f"<tiering task of {self.path}: {self.split}>"

    @property
    def place(self) -> LakePlace:
        """Where the rows belong."""
        return place_of(self.split)


#: Gives a task its connection.
Connect: TypeAlias = Callable[[TieringTask], Connection]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task has done: how far the bucket's log is read, up to which time, and what was written."""

    bucket: TableBucket
    read_to: int
    newest_ms: int | None
    written: WriteResult
    letters: tuple[DeadLetter, ...] = ()
    #: Offsets that were passed over because the log does not have them, or nobody can decode them; a line for each.
    left_out: tuple[str, ...] = ()
    #: Why it ends before its split does.
    stopped: str | None = None


def place_of(split: TieringSplit) -> LakePlace:
    """The place in the lake that a split belongs to."""
    values = () if split.partition is None else tuple(split.partition.split(SEPARATOR))
    return LakePlace(split.bucket.bucket, values)


def run_task(task: TieringTask, connect: Connect, clock: Clock) -> TaskResult:
    """Read a split and write it; what was written is removed again when something goes wrong."""
    table = _table_of(task, connect)
    try:
        return _move_split(task, task.split, table, clock)
    except DamagedError as wrong:
        if not isinstance(task.split, LogRange):
            raise
        # What lies before the damage goes on; the bucket stops there, and the other buckets do not.
        before = replace(task.split, stop=min(max(wrong.start, task.split.start), task.split.stop))
        return replace(_move_split(task, before, table, clock), stopped=wrong.message)


def run_tasks(tasks: Sequence[TieringTask], connect: Connect, clock: Clock) -> list[TaskResult]:
    """Tasks of one table, one after the other; ranges of logs (`bundles`) are read at once, where they are whole."""
    ranges = [task.split for task in tasks if isinstance(task.split, LogRange)]
    if 1 < len(ranges) == len(tasks):
        first = tasks[0]
        table = _table_of(first, connect)
        with suppress(DamagedError):  # each by itself finds out how far its own bucket can be read
            found = read_logs(table, ranges, _BYTES_AT_ONCE, aside=first.takes_letters)
            if found is not None:
                triples = zip(tasks, ranges, found, strict=True)
                return [_move_rows(task, split.stop, rows, left_out) for task, split, (rows, left_out) in triples]
    return [run_task(task, connect, clock) for task in tasks]


def _table_of(task: TieringTask, connect: Connect) -> Table:
    table = connect(task).table(str(task.path))
    if table.info.table_id != task.table_id:
        raise ErrorCode.TABLE_NOT_EXIST.error(f"{task.path} was dropped and created anew while it was tiered.")
    return table


def _move_split(task: TieringTask, split: TieringSplit, table: Table, clock: Clock) -> TaskResult:
    left_out: list[LeftOut] = []
    if isinstance(split, LogRange):
        return _move_rows(task, split.stop, read_log(table, split, left_out, aside=task.takes_letters), left_out)
    return _move_rows(task, split.offset, read_state(table, split, clock.now_ms()), left_out)


def _move_rows(
    task: TieringTask, read_to: int, rows: Iterator[pa.RecordBatch], left_out: Sequence[LeftOut]
) -> TaskResult:
    """Write what was read up to an offset; `left_out` is whole once the rows are."""
    writer = lake_format(task.lake_format).writer(task.writing, task.place)
    sorter = LetterSorter(str(task.path), task.split.partition, task.takes_letters)
    newest_us: int | None = None
    try:
        for batch in rows:
            sorter.write(writer.write, batch)
            newest_us = batch[TIMESTAMP][batch.num_rows - 1].value
        written = writer.finish()
    except BaseException:
        writer.abort()
        raise
    sorter.put_batches_aside(left_out)
    newest_ms = None if newest_us is None else newest_us // _MICROS_PER_MS
    told = tuple(f"{one}." for one in left_out)
    return TaskResult(task.split.bucket, read_to, newest_ms, written, tuple(sorter.letters), told)
