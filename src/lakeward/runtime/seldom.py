"""SeldomLog: what thousands of clients may cause is said once in a while, with a count."""

from __future__ import annotations

import logging
from collections.abc import Callable

_AGAIN_S = 10.0


class SeldomLog:
    """One kind of warning."""

    def __init__(self, log: logging.Logger, now: Callable[[], float]) -> None:
        self._log = log
        self._now = now
        self._said_at: float | None = None
        self._unsaid = 0

    def warn(self, what: str) -> None:
        """Say it, unless something of the kind was said a moment ago."""
        now = self._now()
        if self._said_at is not None and now - self._said_at < _AGAIN_S:
            self._unsaid += 1
            return
        more = f" ({self._unsaid} more since the last time this was said)" if self._unsaid else ""
        self._log.warning("%s%s", what, more)
        self._said_at, self._unsaid = now, 0
