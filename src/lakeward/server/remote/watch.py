"""OwnershipWatch: looks again and again whether remote storage is still ours; if not, writes stop."""

from __future__ import annotations

import asyncio
import logging

from lakeward.errors import InvalidError, LakewardError
from lakeward.runtime.clock import Clock
from lakeward.server.remote.copy_trouble import CopyTrouble
from lakeward.server.remote.ownership import Ownership
from lakeward.server.tablet.write_stop import WriteStop

_log = logging.getLogger(__name__)
REPLACED = "replaced"
_INTERVAL_S = 5.0


class OwnershipWatch:
    """The task that looks."""

    def __init__(self, ownership: Ownership, writes: WriteStop, url: str, clock: Clock) -> None:
        self._ownership = ownership
        self._writes = writes
        self._trouble = CopyTrouble(f"signs of life to {url}", clock.monotonic)
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look from now on."""
        self._task = asyncio.get_running_loop().create_task(self._look_again())

    async def _look_again(self) -> None:
        while True:
            pause_s = _INTERVAL_S
            try:
                await self._ownership.look()
                self._trouble.worked()
            except InvalidError as wrong:
                self._writes.stop(REPLACED, wrong)
                _log.error("%s", wrong.message)
                return
            except LakewardError as wrong:
                pause_s = max(pause_s, self._trouble.failed(wrong))
            await asyncio.sleep(pause_s)

    async def stop(self) -> None:
        """Look no more, and say that this server is gone."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            try:
                await asyncio.wait_for(self._ownership.leave(), _INTERVAL_S)
            except (LakewardError, TimeoutError) as wrong:
                _log.debug("no farewell: %s", wrong)
