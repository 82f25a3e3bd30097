"""Interrupts: Ctrl-C is counted, and looked at where it can be obeyed; nothing is torn apart by it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupts:
    """How often somebody pressed Ctrl-C since it was last asked."""

    def __init__(self) -> None:
        self._count = 0

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Meanwhile Ctrl-C raises nothing."""
        self._count = 0

        def note(_number: int, _frame: object) -> None:
            self._count += 1

        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """… but here, where somebody is asked plainly, it raises KeyboardInterrupt."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def take(self) -> bool:
        """Whether it was pressed; then it is as if it had not been."""
        was, self._count = self._count > 0, 0
        return was

    def keep(self) -> None:
        """It was pressed, and what it was meant for had ended: it counts for what comes next."""
        self._count += 1
