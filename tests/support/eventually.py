"""What happens on another thread, or in another process, is waited for: as long as it may take, and no longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_PAUSE_S = 0.02
#: Who looks must not take the processor from what is looked for: a look that takes long is followed by a long pause.
_PAUSES_PER_LOOK = 3


def eventually(holds: Callable[[], bool], *, within_s: float = 100) -> bool:
    """Whether it holds soon."""
    end = time.monotonic() + within_s
    while True:
        begin = time.monotonic()
        if holds():
            return True
        now = time.monotonic()
        if now > end:
            return False
        time.sleep(max(_PAUSE_S, _PAUSES_PER_LOOK * (now - begin)))


async def soon(holds: Callable[[], bool], *, within_s: float = 100) -> bool:
    """The same on an event loop, which goes on meanwhile."""
    for _ in range(int(within_s / _PAUSE_S)):
        if holds():
            return True
        await asyncio.sleep(_PAUSE_S)
    return holds()
