"""CopyProgress: how far a copy has come, on one line of a terminal; while it follows, how far behind it is."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Self

from lakeward.cli.output.listing import say
from lakeward.cli.output.plain_text import one_line
from lakeward.runtime.clock import Clock, SystemClock

#: Between two lines of a terminal, and before the first; and between two where nobody watches.
_PAUSE_S = 0.3
_LOG_EVERY_S = 10.0
_BEHIND = "behind"


class CopyProgress:
    """Takes what a copier tells; a terminal sees one line, a log file now and then how far behind a table is."""

    def __init__(self, *, quiet: bool, clock: Clock | None = None) -> None:
        """Quiet for whoever reads JSON: then a terminal alone is told."""
        self._clock = clock or SystemClock()
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False
        self._told = self._began = self._clock.monotonic()
        self._rows: dict[str, int] = {}
        self._behind: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.clear()

    def move(self, path: object, what: str, rows: int, left: int | None) -> None:
        """A table has come so much further."""
        self._rows[what] = self._rows.get(what, 0) + rows
        if what == _BEHIND:
            self._behind[str(path)] = left or 0
        now = self._clock.monotonic()
        if now - self._told < (_PAUSE_S if self._is_terminal else _LOG_EVERY_S):
            return
        text = self._behind_text() if what == _BEHIND else self._moved_text(path, what, left)
        if self._is_terminal:
            self._is_shown = True
            sys.stderr.write(f"\r\x1b[K{one_line(text)[:110]}")
            sys.stderr.flush()
        elif what == _BEHIND and not self._quiet:
            say(text)
        self._told = now

    def _behind_text(self) -> str:
        behind = sum(self._behind.values())
        worst = max(self._behind, key=lambda path: self._behind[path])
        return f"Following: {behind:,} rows behind" + (f", most of them in {worst}" if behind else "")

    def _moved_text(self, path: object, what: str, left: int | None) -> str:
        speed = self._rows[what] / max(self._clock.monotonic() - self._began, 1e-9)
        rest = "" if left is None else f", {left:,} to go"
        return f"{path}: {self._rows[what]:,} rows {what}{rest}, {speed:,.0f}/s"

    def clear(self) -> None:
        """Leave the line to others."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_shown = False
