"""OwnershipWatch: looks again and again whether remote storage is still ours; if not, writes stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from lakeward.errors import InvalidError, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import Clock
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.remote.access.copy_trouble import CopyTrouble
from lakeward.server.remote.access.ownership import Ownership

_log = logging.getLogger(__name__)
REPLACED = "replaced"
_INTERVAL_S = 5.0


class OwnershipWatch:
    """The task that looks."""

    def __init__(
        self,
        ownership: Ownership,
        writes: WriteStop,
        ends: Callable[[], Mapping[TableBucket, int]],
        url: str,
        clock: Clock,
        tablet: int | None = None,
    ) -> None:
        """`ends` tells the log ends of buckets that have more than was copied; `tablet` is the number of a tablet
        server."""
        self._tablet = tablet
        self._ownership = ownership
        self._writes = writes
        self._ends = ends
        self._trouble = CopyTrouble(f"signs of life to {url}", clock.monotonic)
        self._task: asyncio.Task[None] | None = None
        self._is_quiet = False

    def begin(self) -> None:
        """Look from now on."""
        self._task = asyncio.get_running_loop().create_task(self._look_again())

    def begin_quietly(self) -> None:
        """Look from now on, without signs of life: a cluster that shares its directory is not restored from it."""
        self._is_quiet = True
        self.begin()

    async def _look_again(self) -> None:
        while True:
            pause_s = _INTERVAL_S
            try:
                await (self._ownership.sure(0) if self._is_quiet else self._look())
                self._trouble.note_success()
            except InvalidError as wrong:
                self._writes.stop(REPLACED, wrong)
                _log.error("%s", wrong.message)
                return
            except Exception as wrong:  # noqa: BLE001 - a server that looks no more would never find out
                pause_s = max(pause_s, self._trouble.note_failure(wrong))
            await asyncio.sleep(pause_s)

    async def _look(self, *, is_stopped: bool = False) -> None:
        await self._ownership.look(self._ends(), tablet=self._tablet, is_stopped=is_stopped)

    async def stop(self) -> None:
        """Look no more, and say that this server has stopped: whoever comes next need not wait."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._is_quiet:
            return
        if self._ownership.owner is not None and self._ownership.replaced_by is None:
            try:
                await asyncio.wait_for(self._look(is_stopped=True), _INTERVAL_S)
            except (LakewardError, TimeoutError) as wrong:
                _log.debug("no farewell: %s", wrong)
