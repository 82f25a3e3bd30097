"""repeated: make a call again while it fails in a way that may pass, with longer and longer pauses, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lakeward.errors import RetriableError
from lakeward.runtime.clock import Clock

T = TypeVar("T")
FIRST_PAUSE_MS = 100
_LONGEST_PAUSE_MS = 5000


def longest_pause_ms(timeout_ms: int) -> int:
    """The longest pause for which there is reason within this time."""
    return max(FIRST_PAUSE_MS, min(_LONGEST_PAUSE_MS, timeout_ms // 4))


async def repeated(attempt: Callable[[], Awaitable[T]], timeout_ms: int, clock: Clock) -> T:
    """The first result within the time; the last failure, when there is none."""
    deadline = clock.monotonic() + timeout_ms / 1000
    pause_ms = FIRST_PAUSE_MS
    while True:
        try:
            return await attempt()
        except RetriableError:
            if clock.monotonic() + pause_ms / 1000 > deadline:
                raise
        await asyncio.sleep(pause_ms / 1000)
        pause_ms = min(2 * pause_ms, longest_pause_ms(timeout_ms))
