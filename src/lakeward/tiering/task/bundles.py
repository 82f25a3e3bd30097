"""Small tasks put together: a table of thousands of buckets has few rows in each, and a look at one costs its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.model.bucket import TableBucket
from lakeward.tiering.task.splits import LogRange
from lakeward.tiering.task.task import TieringTask

_SMALL_ROWS = 16_384
_ROWS_MAX = 65_536
_TASKS_MAX = 128


def bundles(tasks: Sequence[TieringTask], slots: int) -> list[list[TieringTask]]:
    """The tasks of a round, each by itself but for the small ones; none has a bucket twice, all slots have some."""
    small = [task for task in tasks if _is_small(task)]
    found = [[task] for task in tasks if not _is_small(task)]
    return [*found, *_cut(sorted(small, key=_where), min(_TASKS_MAX, -(-len(small) // max(slots, 1))))]


def _is_small(task: TieringTask) -> bool:
    return isinstance(task.split, LogRange) and task.split.rows <= _SMALL_ROWS


def _where(task: TieringTask) -> tuple[str, int]:
    """Neighbours: a scan is of the same buckets of each partition."""
    return task.split.partition or "", task.split.bucket.bucket


def _cut(tasks: Sequence[TieringTask], tasks_max: int) -> Iterator[list[TieringTask]]:
    bundle: list[TieringTask] = []
    rows = 0
    last: TableBucket | None = None
    for task in tasks:
        assert isinstance(task.split, LogRange)
        rows += task.split.rows
        if bundle and (len(bundle) >= tasks_max or rows > _ROWS_MAX or task.split.bucket == last):
            yield bundle
            bundle, rows = [], task.split.rows
        bundle.append(task)
        last = task.split.bucket
    if bundle:
        yield bundle
