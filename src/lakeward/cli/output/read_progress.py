"""ReadProgress: how far a long read has come, on one line of a terminal."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Self

from lakeward.cli.output.plain_text import one_line
from lakeward.runtime.clock import Clock, SystemClock

#: Between two lines, and before the first.
_PAUSE_S = 0.3


class ReadProgress:
    """Says on stderr what is being read and how much of it, where that is a terminal; otherwise nothing."""

    def __init__(self, unit: str, clock: Clock | None = None) -> None:
        self._unit = unit
        self._clock = clock or SystemClock()
        self._began = self._told = self._clock.monotonic()
        self._is_wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False
        self._total = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.clear()

    def move(self, what: str, amount: float) -> None:
        """So much more was read of something."""
        self._total += amount
        now = self._clock.monotonic()
        if not self._is_wanted or now - self._told < _PAUSE_S:
            return
        self._told = now
        self._is_shown = True
        speed = self._total / max(now - self._began, 1e-9)
        text = one_line(f"{what}: {self._total:,.0f} {self._unit}, {speed:,.0f}/s")
        sys.stderr.write(f"\r\x1b[K{text[:110]}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line to others."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_shown = False
