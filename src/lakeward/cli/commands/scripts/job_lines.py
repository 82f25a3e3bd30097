"""JobLines: a line of progress for each job; in a terminal it stays where it is, elsewhere it comes now and then."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lakeward.cli.output.listing import count, say, say_error
from lakeward.cli.output.plain_text import one_line
from lakeward.runtime.clock import Clock
from lakeward.spark.scripts.jobs.job_record import JobState, StreamProgress

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from lakeward.spark.scripts.jobs.job import Job

_LINE_EVERY_S = 5.0
_SLOW = 10


def figures(progress: StreamProgress) -> list[str]:
    """What is told of a stream, in words."""
    told = [count(progress.rows, "row"), f"{_speed(progress.rows_per_s)} rows/s"]
    if progress.lag_rows is not None:
        waited = f" ({_span(progress.lag_ms)})" if progress.lag_rows and progress.lag_ms else ""
        told.append(f"{progress.lag_rows:,} behind{waited}")
    if progress.state_rows is not None:
        told.append(f"state {count(progress.state_rows, 'row')}")
    if progress.late_rows:
        told.append(f"{progress.late_rows:,} too late")
    if progress.skipped_rows:
        told.append(f"{progress.skipped_rows:,} skipped")
    return told


def _speed(rows_per_s: float) -> str:
    return f"{rows_per_s:,.1f}" if 0 < rows_per_s < _SLOW else f"{rows_per_s:,.0f}"


def _span(ms: int | None) -> str:
    return f"{(ms or 0) / 1000:,.1f} s"


def tell_end(job: Job) -> None:
    """Say how a job has ended."""
    rows = count(sum(progress.rows for progress in job.progress()), "row")
    if job.state is JobState.FAILED:
        say_error(f"Job {job.name} failed: {job.error}")
    elif job.state is JobState.FINISHED and job.is_continued and rows == "0 rows":
        say(f"Job {job.name} had read all there is; `lakeward jobs drop {job.name}` lets it begin anew.")
    else:
        say(f"Job {job.name} is {job.state.value}: {rows} in this run.")


class JobLines:
    """Shown on stderr, so that stdout has nothing but rows."""

    def __init__(self, clock: Clock, *, is_detailed: bool = False) -> None:
        """`is_detailed` shows a table with a row for each stream."""
        self._clock = clock
        self._is_detailed = is_detailed
        self._is_live = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._live: Live | None = None
        self._told_s: float | None = None
        self._last: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def show(self, jobs: Sequence[Job]) -> None:
        """Show how jobs are now."""
        if self._is_live:
            self._draw(jobs)
            return
        now_s = self._clock.monotonic()
        if self._told_s is None or now_s - self._told_s >= _LINE_EVERY_S:
            self._told_s = now_s
            self.tell(jobs)

    def tell(self, jobs: Sequence[Job]) -> None:
        """Say a line for each job of which there is news."""
        for job in jobs:
            for line in self._lines(job):
                key = f"{job.name} {line.partition(':')[0]}"
                if self._last.get(key) != line:
                    self._last[key] = line
                    say(line)

    def interrupt(self, message: str) -> None:
        """Say something in between."""
        self.close()
        say(message)

    def close(self) -> None:
        """The terminal is the person's again; the last figures stay."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _lines(self, job: Job) -> list[str]:
        streams = list(zip(job.streams, job.progress(), strict=True))
        if len(streams) == 1 and not self._is_detailed:
            return [one_line(f"{job.name}: {', '.join(figures(streams[0][1]))}")]
        return [one_line(f"{job.name} → {s.plan.sink}: {', '.join(figures(progress))}") for s, progress in streams]

    def _draw(self, jobs: Sequence[Job]) -> None:
        from rich.console import Console
        from rich.live import Live

        if self._live is None:
            self._live = Live(console=Console(stderr=True), auto_refresh=False)
            self._live.start()
        self._live.update(self._table(jobs) if self._is_detailed else self._text(jobs), refresh=True)

    def _text(self, jobs: Sequence[Job]) -> RenderableType:
        from rich.text import Text

        return Text("\n".join(line for job in jobs for line in self._lines(job)), no_wrap=True, overflow="ellipsis")

    def _table(self, jobs: Sequence[Job]) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for title in ("JOB", "STATE", "INTO"):
            table.add_column(title)
        for title in ("ROWS", "ROWS/S", "BEHIND", "WAITED", "STATE ROWS", "TOO LATE", "BATCHES"):
            table.add_column(title, justify="right")
        for job in jobs:
            for stream, p in zip(job.streams, job.progress(), strict=True):
                cells = [job.name, job.state.value, stream.plan.sink, f"{p.rows:,}", _speed(p.rows_per_s)]
                cells += [
                    "-" if p.lag_rows is None else f"{p.lag_rows:,}",
                    "-" if p.lag_ms is None else _span(p.lag_ms),
                ]
                cells += ["-" if p.state_rows is None else f"{p.state_rows:,}", f"{p.late_rows:,}", f"{p.batches:,}"]
                table.add_row(*(Text(one_line(cell)) for cell in cells))
        return table
