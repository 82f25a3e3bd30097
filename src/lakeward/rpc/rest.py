"""Rest: a while in which a client's next requests are left where they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def _nobody() -> None:
    """There is nobody to wake."""


class Rest:
    """Ends by itself; a longer one takes the place of one that is under way."""

    __slots__ = ("_loop", "_timer", "_until", "_wake")

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        """`wake` is called when the rest is over."""
        self._loop = loop
        self._wake = wake
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is one under way."""
        return self._timer is not None

    def take(self, seconds: float) -> None:
        """Begin one, or go on with it."""
        self._until = max(self._until, self._loop.time() + seconds)
        if self._timer is None:
            self._timer = self._loop.call_at(self._until, self._look)

    def drop(self) -> None:
        """End it without a word, for good: whoever rested has gone, and is not held on to."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wake = _nobody

    def _look(self) -> None:
        self._timer = None
        if self._loop.time() < self._until:
            self._timer = self._loop.call_at(self._until, self._look)
        else:
            self._wake()
