"""Ctrl-C and SIGTERM while a script runs: the first lets micro-batches finish, the second ends at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from lakeward.cli.input.failures import EXIT_INTERRUPTED


class StopSignal(BaseException):
    """Somebody wants the script to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = EXIT_INTERRUPTED if number == signal.SIGINT else 0


@contextmanager
def raised_signals() -> Iterator[None]:
    """The first signal raises StopSignal in the main thread; from then on they end the process at once."""

    def raise_once(number: int, _frame: object) -> None:
        for more in before:
            signal.signal(more, signal.SIG_DFL)
        raise StopSignal(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, raise_once)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
