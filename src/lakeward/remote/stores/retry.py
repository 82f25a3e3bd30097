"""retry: make a call again while it fails in a way that may pass, with longer and longer pauses, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from lakeward.errors import RetriableError
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import Clock

T = TypeVar("T")
FIRST_PAUSE_MS = 100
_LONGEST_PAUSE_MS = 5000


def longest_pause_ms(timeout_ms: int) -> int:
    """The longest pause for which there is reason within this time."""
    return max(FIRST_PAUSE_MS, min(_LONGEST_PAUSE_MS, timeout_ms // 4))


async def retry(attempt: Callable[[], Awaitable[T]], timeout_ms: int, clock: Clock) -> T:
    """The first result within the time; the last failure, when there is none."""
    deadline = clock.monotonic() + timeout_ms / 1000
    backoff = Backoff(FIRST_PAUSE_MS / 1000, longest_pause_ms(timeout_ms) / 1000)
    for failures in count(1):
        try:
            return await attempt()
        except RetriableError:
            pause_s = backoff.pause_s(failures)
            if clock.monotonic() + pause_s > deadline:
                raise
        await asyncio.sleep(pause_s)
    raise AssertionError("it returns or raises")
