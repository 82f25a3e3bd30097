"""A server that dies by its own hand while it copies its log: `remote_server.py STEP HIT serve …`.

STEP names a moment of a copy, HIT says the how manieth time it comes by. The server itself knows nothing of this.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lakeward.cli.main import main
from lakeward.remote.stores.directory_store import DirectoryStore
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.storage.log.log_tablet import LogTablet

Wants = Callable[[tuple[Any, ...]], bool]


class Death:
    """Ends the process when something happens for the n-th time."""

    def __init__(self, hit: int) -> None:
        self._left = hit

    def comes(self) -> None:
        """Once more; the last time it is for real."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, owner: Any, name: str, wants: Wants) -> None:
        """Die instead of calling it."""
        called = getattr(owner, name)

        def dying(*given: Any, **named: Any) -> Any:
            if wants(given):
                self.comes()
            return called(*given, **named)

        setattr(owner, name, dying)

    def after(self, owner: Any, name: str, wants: Wants) -> None:
        """Die when it has returned."""
        called = getattr(owner, name)

        def dying(*given: Any, **named: Any) -> Any:
            found = called(*given, **named)
            if wants(given):
                self.comes()
            return found

        setattr(owner, name, dying)

    def halfway(self) -> None:
        """Die when half of a segment's bytes are there."""
        called = DirectoryStore._copy_in

        def dying(store: DirectoryStore, path: str, source: Path) -> int:
            if path.endswith(".log"):
                beside = store._part(path)
                beside.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
                self.comes()
                beside.unlink()
            return called(store, path, source)

        DirectoryStore._copy_in = dying  # type: ignore[method-assign]


def _file(suffix: str) -> Wants:
    return lambda given: str(given[1]).endswith(suffix)


def _copied(given: tuple[Any, ...]) -> bool:
    return given[0].copied_offset is not None and given[0].segment_count > 2


def _of_logs(given: tuple[Any, ...]) -> bool:
    return str(given[1]).startswith("log/")


def _any(_: tuple[Any, ...]) -> bool:
    return True


STEPS: dict[str, Callable[[Death], None]] = {
    "held": lambda death: death.after(LogTablet, "hold", _any),
    "before data": lambda death: death.before(DirectoryStore, "_copy_in", _file(".log")),
    "half of the data": Death.halfway,
    "after data": lambda death: death.after(DirectoryStore, "_copy_in", _file(".log")),
    "after an index": lambda death: death.after(DirectoryStore, "_write", _file(".index")),
    "after writers": lambda death: death.after(DirectoryStore, "_write", _file(".writer_snapshot")),
    "before the manifest": lambda death: death.before(DirectoryStore, "_write", _file(".manifest")),
    "after the manifest": lambda death: death.after(DirectoryStore, "_write", _file(".manifest")),
    "before the commit": lambda death: death.before(RemoteLogs, "commit", _any),
    "after the commit": lambda death: death.after(RemoteLogs, "commit", _any),
    "before local deletion": lambda death: death.before(LogTablet, "retain", _copied),
    "after local deletion": lambda death: death.after(LogTablet, "retain", _copied),
    "before remote deletion": lambda death: death.before(DirectoryStore, "_remove", _of_logs),
    "after remote deletion": lambda death: death.after(DirectoryStore, "_remove", _of_logs),
}


if __name__ == "__main__":
    step, hit = sys.argv[1], int(sys.argv[2])
    STEPS[step](Death(hit))
    sys.argv[1:] = sys.argv[3:]
    main()
