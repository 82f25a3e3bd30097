"""Pace: at most this many bytes a second, over all copies that share it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lakeward.runtime.clock import Clock, SystemClock


class Pace:
    """Lets bytes pass at a rate; whoever comes later waits behind those before."""

    def __init__(
        self,
        bytes_per_second: int,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        assert bytes_per_second > 0, "a pace of nothing never ends"
        self.bytes_per_second = bytes_per_second
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._free_at = self._clock.monotonic()

    async def take(self, size_bytes: int) -> None:
        """Wait until this many bytes may pass."""
        now = self._clock.monotonic()
        begin = max(now, self._free_at)
        self._free_at = begin + size_bytes / self.bytes_per_second
        if begin > now:
            await self._sleep(begin - now)
