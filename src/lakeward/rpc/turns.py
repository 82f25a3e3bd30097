"""Turns: whoever has much to do has a bounded share of each turn of the event loop.

A request on a quiet connection is handled the moment it arrives. Work that takes longer than a slice goes to a queue
and is done slice by slice, one after the other, and between two rounds the loop looks at its sockets. So a client
that asks for one small thing waits for a few slices of others, however much they have sent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

#: What one piece of work gets before the next one has its turn.
SLICE_S = 0.001
#: What all of them get before the loop looks at its sockets.
_ROUND_S = 0.004


class Work(Protocol):
    """Something that can be done a bit at a time."""

    def take_turn(self, until: float) -> bool:
        """Do some of it, until about that time of `Turns.now`; True when there is more to do."""


class SteppedRequest(Protocol):
    """A request that is handled a bit at a time; `awaits` is what it cannot go on without."""

    awaits: asyncio.Future[Any] | None

    def advance(self, until: float) -> bool:
        """Go on until about that time; True when it is answered."""

    def drop(self) -> None:
        """Nobody waits for the answer any more."""


class Turns:
    """The queue of work that did not fit into a slice."""

    def __init__(self, loop: asyncio.AbstractEventLoop, now: Callable[[], float]) -> None:
        """`now` tells seconds that never go back. The loop's own time will not do: it stands still in a turn."""
        self._loop = loop
        self.now = now
        self._queue: deque[Work] = deque()
        self._is_due = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits."""
        return not self._queue

    def join(self, work: Work) -> None:
        """Have work done that is not in the queue."""
        self._queue.append(work)
        self._go_on()

    def _go_on(self) -> None:
        if self._queue and not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._round)

    def _round(self) -> None:
        self._is_due = False
        now = self.now()
        end = now + _ROUND_S
        try:
            while self._queue and now < end:
                work = self._queue.popleft()
                if work.take_turn(now + SLICE_S):
                    self._queue.append(work)
                now = self.now()
        finally:
            self._go_on()
