"""Whatever runs tasks: Spark's executors, or threads of this process."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from lakeward.runtime.clock import Clock
from lakeward.tiering.task.bundles import bundles
from lakeward.tiering.task.task import Connect, TaskResult, TieringTask, run_tasks


class Runner(Protocol):
    """Runs the tasks of a round."""

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        ...

    def run(self, name: str, tasks: Sequence[TieringTask]) -> list[TaskResult]:
        """Run tasks and return when all are done; `name` is what people see of them. Raises the first failure."""
        ...


class LocalRunner:
    """Tasks on threads: for tests, and for small tables where no Spark is wanted."""

    def __init__(self, connect: Connect, clock: Clock, slots: int = 2) -> None:
        self._connect = connect
        self._clock = clock
        self.slots = slots

    def run(self, name: str, tasks: Sequence[TieringTask]) -> list[TaskResult]:
        """Run tasks, as many at once as there are slots."""
        with ThreadPoolExecutor(self.slots, thread_name_prefix=name) as threads:
            done = threads.map(lambda some: run_tasks(some, self._connect, self._clock), bundles(tasks, self.slots))
            return [result for some in done for result in some]
