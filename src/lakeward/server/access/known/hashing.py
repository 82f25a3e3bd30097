"""Hashing: what is slow on purpose happens on a thread of its own, and only so much of it waits there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from lakeward.errors import ErrorCode

_T = TypeVar("_T")
#: Some seconds of work: who comes behind them is told to try again.
_WAITING_MAX = 100


class Hashing:
    """One thread: a crowd that guesses passwords takes one core at most, and the loop none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: Executor) -> None:
        self._loop = loop
        self._thread = thread
        self._waiting = 0

    def begin(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """What work returns, later; RETRIABLE_AUTHENTICATE when too much is to be done already."""
        if self._waiting >= _WAITING_MAX:
            raise ErrorCode.RETRIABLE_AUTHENTICATE.error("The server checks too many passwords just now; try again.")
        self._waiting += 1
        begun = asyncio.ensure_future(self._loop.run_in_executor(self._thread, work), loop=self._loop)
        begun.add_done_callback(self._end)
        return begun

    def _end(self, _: asyncio.Future[_T]) -> None:
        self._waiting -= 1
