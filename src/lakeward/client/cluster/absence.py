"""Absence: no server of a cluster can be reached, and whoever was talking to it waits until one can."""

from __future__ import annotations

import asyncio
import logging

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.backoff import Backoff

_log = logging.getLogger(__name__)
_BACKOFF = Backoff(0.1, 1.0)


class Absence:
    """How long the servers have been away, and how long that is borne; said once when it begins, once when it ends."""

    def __init__(self, wait_ms: float) -> None:
        self._wait_s = wait_ms / 1000
        self._since_s: float | None = None
        self._past_s = 0.0
        self._attempts = 0

    def attended_s(self) -> float:
        """A clock that stands still while the servers are away: what times out by it had its chance."""
        now_s = asyncio.get_running_loop().time()
        return (now_s if self._since_s is None else self._since_s) - self._past_s

    async def bears(self, wrong: LakewardError) -> bool:
        """After a vain attempt: rest before the next one, or say that it has been too long."""
        if wrong.code is not ErrorCode.NETWORK or self._wait_s <= 0:
            return False
        now_s = asyncio.get_running_loop().time()
        if self._since_s is None:
            self._since_s = now_s
            tell_away(wrong, self._wait_s)
        if now_s - self._since_s > self._wait_s:
            self._end(now_s)
            return False
        self._attempts += 1
        await asyncio.sleep(_BACKOFF.pause_s(self._attempts))
        return True

    def over(self) -> None:
        """A server has answered."""
        if self._since_s is not None:
            now_s = asyncio.get_running_loop().time()
            tell_back(now_s - self._since_s)
            self._end(now_s)

    def _end(self, now_s: float) -> None:
        assert self._since_s is not None
        self._past_s += now_s - self._since_s
        self._since_s = None
        self._attempts = 0


def tell_away(wrong: LakewardError, wait_s: float) -> None:
    """The line that says what is waited for."""
    _log.warning("%s Waiting for it for up to %g s.", wrong.message, wait_s)


def tell_back(away_s: float) -> None:
    """The line that says that the waiting has an end."""
    _log.warning("The server is back after %.1f s; going on.", away_s)
