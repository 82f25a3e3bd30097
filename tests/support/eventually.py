"""What happens on another thread, or in another process, is waited for: as long as it may take, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE_S = 0.02


def eventually(holds: Callable[[], bool], *, within_s: float = 30) -> bool:
    """Whether it holds soon."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE_S)
    return True
