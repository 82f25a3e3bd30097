"""HeldKeys: keys that are pressed while something runs are neither shown nor lost; they wait for the next prompt."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_INPUT_FLAGS, _LOCAL_FLAGS = 0, 3


class HeldKeys:
    """The terminal's modes. A line of any length is kept as it comes; Ctrl-C and Ctrl-Z do what they do."""

    def __init__(self) -> None:
        is_able = sys.stdin.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._before: list[Any] | None = termios.tcgetattr(sys.stdin) if is_able else None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keys wait."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def releasing(self) -> Iterator[None]:
        """… but for a question that is asked plainly, which what was typed before it does not answer."""
        self.release()
        if self._before is not None:
            termios.tcflush(sys.stdin, termios.TCIFLUSH)  # an Enter that was held ends no line of a plain terminal
        try:
            yield
        finally:
            self.hold()

    def hold(self) -> None:
        """From here on keys wait."""
        if self._before is not None:
            modes = termios.tcgetattr(sys.stdin)
            modes[_INPUT_FLAGS] &= ~termios.ICRNL
            modes[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)

    def release(self) -> None:
        """The terminal is as it was."""
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, self._before)
