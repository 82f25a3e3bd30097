"""Lives of a tiering service that end by kill -9, one after the other: `tiering_lives.py BOOTSTRAP WAREHOUSE DATABASE`.

WAREHOUSE is a directory, or the properties of a catalog in JSON. Reads lines `STEP HIT` and answers each with how that
life ended. Lives are forks, so that they begin within a moment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from log_watcher import LogWatcher

import lakeward
from lakeward.client.admin.lake import Lake
from lakeward.errors import ErrorCode
from lakeward.lake.files import whole_files
from lakeward.lake.iceberg.format import IcebergFormat  # noqa: F401 - loaded before the fork
from lakeward.lake.iceberg.table import IcebergTable
from lakeward.lake.iceberg.write.data_writer import DataFileWriter
from lakeward.tiering.assembly import assemble, local_runner
from lakeward.tiering.round.runner import LocalRunner
from lakeward.tiering.settings import TieringSettings
from lakeward.tiering.task.task import TaskResult, TieringTask
from lakeward.tiering.watch.lag import lag_of

_GIVE_UP_S = 90


class Killer:
    """Ends the process when something happens for the n-th time."""

    def __init__(self, hit: int) -> None:
        self._left = hit

    def before(self, owner: Any, name: str) -> None:
        """Die instead of calling it."""
        called = getattr(owner, name)

        def dying(*arguments: Any, **named: Any) -> Any:
            self.die()
            return called(*arguments, **named)

        setattr(owner, name, dying)

    def after(self, owner: Any, name: str) -> None:
        """Die when it has returned."""
        called = getattr(owner, name)

        def dying(*arguments: Any, **named: Any) -> Any:
            found = called(*arguments, **named)
            self.die()
            return found

        setattr(owner, name, dying)

    def die(self) -> None:
        """If it is time."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def arranged(step: str, killer: Killer) -> None:
    """Have the process die at a step of a round."""
    steps: dict[str, Callable[[], None]] = {
        "before files": lambda: killer.before(LocalRunner, "run"),
        "in a file": lambda: killer.before(DataFileWriter, "_close"),
        "after files": lambda: killer.after(LocalRunner, "run"),
        "before the lake commit": lambda: killer.before(IcebergTable, "commit"),
        "after the lake commit": lambda: killer.after(IcebergTable, "commit"),
        "before the hint": lambda: killer.before(whole_files, "replace"),
        "before the report": lambda: killer.before(Lake, "commit"),
        "after the report": lambda: killer.after(Lake, "commit"),
    }
    if step in steps:
        steps[step]()


class Forking:
    """A runner whose tasks are processes of their own; the first of them is killed in the middle of its file."""

    slots = 1

    def __init__(self, inner: LocalRunner) -> None:
        self._inner = inner
        self._kills = 1

    def run(self, name: str, tasks: Sequence[TieringTask]) -> list[TaskResult]:
        """Run tasks; one that was killed fails the round, as on a lost executor."""
        if self._kills:
            self._kills -= 1
            child = os.fork()
            if not child:
                Killer(1).before(DataFileWriter, "_close")
                lives_of_a_task(tasks[0])
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status), "the task was to die"
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"a task of {name} was killed")
        return self._inner.run(name, tasks)


def lives_of_a_task(task: TieringTask) -> None:
    """In a process of its own, with a connection of its own."""
    try:
        with lakeward.connect(task.bootstrap) as conn:
            local_runner(conn, 1).run("task", [task])
    finally:
        os._exit(1)


def life(bootstrap: str, properties: dict[str, str], database: str, step: str, hit: int) -> None:
    """Tier all tables of a database and stop, or die at a step."""
    arranged(step, Killer(hit))
    with lakeward.connect(bootstrap) as conn:
        tables = [conn.table(f"{database}.{name}") for name in conn.tables(database)]
        settings = TieringSettings(bootstrap, properties)
        inner = local_runner(conn, 2)
        service = assemble(settings, conn, Forking(inner) if step == "a task" else inner, LogWatcher())
        end = threading.Event()

        def watch() -> None:
            for _ in range(_GIVE_UP_S * 5):
                if not any(lag_of(conn, table, 0).rows for table in tables) or end.wait(0.2):
                    break
            service.stop()

        watcher = threading.Thread(target=watch)
        watcher.start()
        service.run()
        end.set()
        watcher.join()


def main() -> None:
    """One life for each line."""
    bootstrap, warehouse, database = sys.argv[1:]
    properties = json.loads(warehouse) if warehouse.startswith("{") else {"warehouse": warehouse}
    if properties["warehouse"] == warehouse:
        Path(warehouse).mkdir(exist_ok=True)
    for line in sys.stdin:
        step, _, hit = line.strip().rpartition(" ")
        child = os.fork()
        if not child:
            try:
                life(bootstrap, properties, database, step, int(hit))
                os._exit(0)
            except BaseException:  # noqa: BLE001 - told by the exit code
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)


if __name__ == "__main__":
    main()
