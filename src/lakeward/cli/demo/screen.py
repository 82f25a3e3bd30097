"""DemoScreen: hints that stay at the top of a terminal, rows that scroll below them, figures on the last line."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from lakeward.cli.output.listing import say
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    import pyarrow as pa

_LINES_MIN, _ROWS_MIN = 20, 8
#: More rows a second than a person can follow are counted, not shown.
_SHOWN_EVERY_S = 0.25
_SAVE, _RESTORE, _CLEAR_LINE, _WHOLE = "\x1b7", "\x1b8", "\x1b[2K", "\x1b[r"


class DemoScreen:
    """On anything but a roomy terminal it is plain lines, one after the other."""

    def __init__(self) -> None:
        self._columns, self._lines = shutil.get_terminal_size()
        roomy = self._lines >= _LINES_MIN and os.environ.get("TERM", "dumb") != "dumb"
        self.is_live = roomy and sys.stdout.isatty() and sys.stderr.isatty()
        self._is_split = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_split:
            self._is_split = False
            self._put(f"{_WHOLE}\x1b[{self._lines};1H{_CLEAR_LINE}")

    def introduce(self, hints: str) -> None:
        """Show what stays."""
        height = sum(max(1, -(-len(line) // self._columns)) for line in hints.rstrip("\n").split("\n")) + 1
        self.is_live = self.is_live and self._lines - height - 1 >= _ROWS_MIN
        if not self.is_live:
            say(hints)
            return
        styled = click.style(hints.rstrip("\n"), fg="cyan")
        self._put(f"\x1b[2J\x1b[H{styled}\x1b[{height + 1};{self._lines - 1}r\x1b[{height + 1};1H")
        self._is_split = True

    def tell(self, figures: str, line: str) -> None:
        """Show figures, at the bottom; or say a line."""
        if self._is_split:
            bar = click.style(f" {figures} "[: self._columns].ljust(self._columns), reverse=True)
            self._put(f"{_SAVE}\x1b[{self._lines};1H{_CLEAR_LINE}{bar}{_RESTORE}")
        elif not self.is_live:
            say(line)

    def thin_out(self, batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        """What is shown of rows: all, but on a terminal no more than can be read."""
        clock, last_s = SystemClock(), float("-inf")
        for batch in batches:
            if not self.is_live:
                yield batch
            elif clock.monotonic() - last_s >= _SHOWN_EVERY_S:
                last_s = clock.monotonic()
                yield batch.slice(batch.num_rows - 1)

    @staticmethod
    def _put(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
