"""What happens on another thread, or in another process, is waited for: as long as it may take, and no longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_PAUSE_S = 0.02


def eventually(holds: Callable[[], bool], *, within_s: float = 100) -> bool:
    """Whether it holds soon."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE_S)
    return True


async def soon(holds: Callable[[], bool], *, within_s: float = 100) -> bool:
    """The same on an event loop, which goes on meanwhile."""
    for _ in range(int(within_s / _PAUSE_S)):
        if holds():
            return True
        await asyncio.sleep(_PAUSE_S)
    return holds()
