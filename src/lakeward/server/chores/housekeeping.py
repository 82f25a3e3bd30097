"""What happens by the clock: checkpoints, retention, partitions, idle connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

from lakeward.errors import LakewardError

_log = logging.getLogger(__name__)
#: Retention looks at this many buckets before it lets requests in again.
_BUCKETS_PER_TURN = 50


class Housekeeping:
    """Repeats chores, each in its own interval; a chore that fails is logged and tried again."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, interval_ms: int, name: str, chore: Callable[[], Iterator[object] | None]) -> None:
        """Do something again and again; a chore that yields gives way to requests in between."""
        self._tasks.append(self._loop.create_task(self._repeat(interval_ms / 1000, name, chore), name=name))

    async def _repeat(self, interval_s: float, name: str, chore: Callable[[], Iterator[object] | None]) -> None:
        told = ""
        while True:
            await asyncio.sleep(interval_s)
            try:
                steps = chore()
                if steps is not None:
                    for number, _ in enumerate(steps):
                        if number % _BUCKETS_PER_TURN == 0:
                            await asyncio.sleep(0)
                told = ""
            except (LakewardError, OSError) as wrong:
                if str(wrong) != told:
                    _log.error("%s failed, and will be tried again every %.0f s: %s", name, interval_s, wrong)
                told = str(wrong)
            except Exception:  # noqa: BLE001 - one failed chore must not end all later ones
                _log.exception("%s failed; it will be tried again in %.0f s", name, interval_s)

    async def stop(self) -> None:
        """End all chores."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
