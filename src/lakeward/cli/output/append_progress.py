"""AppendProgress: how far a long append has come, on a terminal."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Work that is done before this is not worth a bar.
_PATIENCE_S = 0.5


class AppendProgress:
    """Shows a bar once the work has taken a moment and stderr is a terminal; otherwise does nothing."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._started = self._clock.monotonic()
        self._is_wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._name = ""
        self._rows_before = 0
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, name: str) -> None:
        """A file begins."""
        self._name = name
        self._rows_before += self._rows
        self._rows = 0
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=name, completed=0, total=None)

    def move(self, share: float | None, rows: int) -> None:
        """So much of the file is read, and so many of its rows are acknowledged."""
        self._rows = rows
        elapsed = self._clock.monotonic() - self._started
        if not self._is_wanted or elapsed < _PATIENCE_S:
            return
        if self._bar is None:
            self._open()
        assert self._bar is not None
        assert self._task is not None
        total = self._rows_before + rows
        told = f"{total:,} rows, {total / elapsed:,.0f}/s"
        self._bar.update(self._task, completed=share or 0, total=None if share is None else 1, rows=told)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]}"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._name, total=None, rows="")
        self._bar.start()
