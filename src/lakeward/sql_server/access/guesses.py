"""Guesses: wrong logins that are found here, slower and slower, then not looked at; as the cluster does with its own.

A proof that is wrong never reaches the cluster, so nobody but this server can count it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.options.authentication import LOGIN_FAILURE_PAUSE, LOGIN_FAILURES
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.bounds.failed_logins import FailedLogins

_log = logging.getLogger(__name__)


class Guesses:
    """Wrong logins by address; used on one loop."""

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep) -> None:
        self._failures = FailedLogins(now, LOGIN_FAILURES.default, LOGIN_FAILURE_PAUSE.default / 1000)
        self._sleep = sleep
        self._told = SeldomLog(_log, now)

    def check(self, address: str) -> None:
        """Refuse to look at a login of an address with too many wrong ones."""
        if self._failures.are_too_many(address):
            raise ErrorCode.RETRIABLE_AUTHENTICATE.error(
                "Too many wrong logins came from your address; try again in a minute."
            )

    def add(self, address: str) -> None:
        """One more, without the name, which may be a password in the wrong field."""
        self._failures.add(address)
        self._told.warn(f"a login from {address} failed")

    async def pause(self, address: str) -> None:
        """Let some time pass before a refusal is told."""
        await self._sleep(self._failures.pause_s(address))
