"""RoundLines: one line a round, and on a terminal a bar of what runs."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from lakeward.cli.output.listing import count, say
from lakeward.cli.output.plain_text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from lakeward.client.admin.lake import TieringRound
    from lakeward.errors import LakewardError
    from lakeward.runtime.clock import Clock
    from lakeward.tiering.round.round import RoundReport


class RoundLines:
    """A watcher for a person. Rounds without news are not told."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._bar = _open_bar() if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" else None
        self._tasks: dict[TieringRound, TaskID] = {}
        self._is_away = False
        self._said: dict[str, str] = {}

    def on_begin(self, held: TieringRound) -> None:
        """It is in the bar now."""
        self._is_away = False
        if self._bar is not None:
            self._tasks[held] = self._bar.add_task(str(held.path), total=None)

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """Rows, files, bytes, time."""
        self._end_task(held)
        if report.repaired:
            self._line(held, "the lake was ahead of the server after a crash; the server now knows")
        if report.dead_letters:
            self._line(held, f"{count(report.dead_letters, 'row')} did not fit and went to the dead letters")
        for line in report.left_out:
            self._line(held, f"not in the lake: {line}")
        self._trouble(held, " ".join(report.stopped), "stopped: ", "")
        if report.snapshot_id is not None:
            self._line(
                held,
                f"{count(report.rows, 'row')}, {count(report.files, 'file')}, {report.file_bytes:,} bytes, "
                f"{report.seconds:.1f} s, snapshot {report.snapshot_id}",
            )

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        """Not an error."""
        self._end_task(held)
        self._line(held, why.message)

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """The reason, and when it is tried again."""
        self._end_task(held)
        self._trouble(held, why.message, "failed: ", f" Tried again in {pause_s:.0f} s, and less and less often.")

    def _trouble(self, held: TieringRound, why: str, before: str, behind: str) -> None:
        """What stays the same is said once; `lakeward tier status` says it whenever it is asked."""
        if why and self._said.get(str(held.path)) != why:
            self._line(held, f"{before}{why}{behind}")
        self._said[str(held.path)] = why

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Another round has begun: nothing to do for a person."""

    def on_silence(self, why: LakewardError) -> None:
        """Said once, until it is back."""
        if not self._is_away:
            self._is_away = True
            say(f"The cluster does not answer, and is asked again until it does: {why.message}")

    def close(self) -> None:
        """The terminal is the person's again."""
        if self._bar is not None:
            self._bar.stop()

    def _end_task(self, held: TieringRound) -> None:
        self._is_away = False
        task = self._tasks.pop(held, None)
        if self._bar is not None and task is not None:
            self._bar.remove_task(task)

    def _line(self, held: TieringRound, what: str) -> None:
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).astimezone(self._clock.zone())
        text = one_line(f"{now:%H:%M:%S}  {held.path}: {what}")
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(text)
            sys.stdout.flush()


def _open_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        console=Console(),
        transient=True,
    )
    bar.start()
    return bar
