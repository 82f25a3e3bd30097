"""PipelineLines: a line for each table; in a terminal they stay where they are, elsewhere they come now and then."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeward.cli.output.listing import count, say, say_error
from lakeward.cli.output.plain_text import one_line
from lakeward.pipelines.status import PipelineState, PipelineStatus, TableStatus
from lakeward.runtime.clock import Clock

if TYPE_CHECKING:
    from rich.live import Live

_LINE_EVERY_S = 5.0
_SLOW = 10


def span(ms: int | None) -> str:
    """A lag in words."""
    return "-" if ms is None else f"{ms / 1000:,.1f} s"


def speed(rows_per_s: float) -> str:
    """Rows a second in words."""
    return f"{rows_per_s:,.1f}" if 0 < rows_per_s < _SLOW else f"{rows_per_s:,.0f}"


def table_line(status: PipelineStatus, table: TableStatus) -> str:
    """How one table is."""
    lag = "" if table.lag_ms is None else f", {span(table.lag_ms)} behind"
    figures = f"{count(table.rows, 'row')}, {speed(table.rows_per_s)} rows/s{lag}, {table.phase}"
    return one_line(f"{status.name}: {table.source} → {table.target}: {figures}")


class PipelineLines:
    """Shown on stderr, so that stdout has nothing but rows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_live = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._live: Live | None = None
        self._told_s: float | None = None
        self._last: dict[str, str] = {}

    def show(self, statuses: Sequence[PipelineStatus]) -> None:
        """Show how pipelines are now."""
        for status in statuses:
            self._tell_news(status)
        if self._is_live:
            self._draw(statuses)
            return
        now_s = self._clock.monotonic()
        if self._told_s is None or now_s - self._told_s >= _LINE_EVERY_S:
            self._told_s = now_s
            self.tell(statuses)

    def tell(self, statuses: Sequence[PipelineStatus]) -> None:
        """Say a line for each table of which there is news."""
        for status in statuses:
            for table in status.tables:
                self._say_once(f"{status.name} {table.source}", table_line(status, table))

    def interrupt(self, message: str) -> None:
        """Say something in between."""
        self.close()
        say(message)

    def close(self) -> None:
        """The terminal is the person's again; the last figures stay."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def end(self, status: PipelineStatus) -> None:
        """Say how a pipeline has ended."""
        self.close()
        self._tell_news(status)
        if status.state is PipelineState.FAILED:
            say_error(f"Pipeline {status.name} failed: {status.error}")
        else:
            say(f"Pipeline {status.name} is {status.state.value}: {count(status.rows, 'row')} in this run.")

    def _tell_news(self, status: PipelineStatus) -> None:
        for note in status.notes:
            self._say_once(f"{status.name} note {note}", f"{status.name}: {note.rstrip('.')}.")
        if status.state is PipelineState.WAITING:
            told = f"{status.name}: {status.error} It is tried again (failure {status.restarts})."
            self._say_once(f"{status.name} error", told)

    def _say_once(self, key: str, line: str) -> None:
        if self._last.get(key) != line:
            self._last[key] = line
            self.interrupt(line) if self._live is not None else say(line)

    def _draw(self, statuses: Sequence[PipelineStatus]) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(stderr=True), auto_refresh=False)
            self._live.start()
        lines = [table_line(status, table) for status in statuses for table in status.tables]
        self._live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)
