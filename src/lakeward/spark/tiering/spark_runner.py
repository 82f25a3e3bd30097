"""SparkRunner: tiering tasks on Spark's executors, one job a round, named after its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.spark import BOOTSTRAP_SERVERS
from lakeward.runtime.clock import SystemClock
from lakeward.spark.table.connections import connection
from lakeward.tiering.task.bundles import bundles
from lakeward.tiering.task.task import TaskResult, TieringTask, run_tasks

if TYPE_CHECKING:
    from pyspark import SparkContext


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error of ours on its way to the driver. Returned, not raised: Spark would try again and print a trace."""

    code: ErrorCode
    message: str


class SparkRunner:
    """Places tasks on executors. Rounds of different tables run side by side, in fair pools."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self.slots = self._context.defaultParallelism

    def run(self, name: str, tasks: Sequence[TieringTask]) -> list[TaskResult]:
        """Run tasks and return when all are done."""
        self._context.setLocalProperty("spark.scheduler.pool", name)
        self._context.setJobDescription(f"{name}: {len(tasks)} splits")
        placed = bundles(tasks, self.slots)
        results = []
        for one in self._context.parallelize(placed, len(placed)).map(_execute).collect():
            if isinstance(one, _Failure):
                raise one.code.error(one.message)
            results += one
        return results


def _execute(tasks: Sequence[TieringTask]) -> list[TaskResult] | _Failure:
    try:
        return run_tasks(tasks, _connect, SystemClock())
    except LakewardError as wrong:
        return _Failure(wrong.code, wrong.message)


def _connect(task: TieringTask) -> Connection:
    return connection({BOOTSTRAP_SERVERS.key: task.bootstrap, **task.client}, expected=True)
