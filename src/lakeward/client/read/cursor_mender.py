"""Finds the leaders of cursors that have none: at the start of a scan, and whenever one was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from lakeward.client.cluster.cluster import Cluster
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.table import TableInfo

if TYPE_CHECKING:
    from lakeward.client.read.cursor import Cursor

#: Bulk answers travel on a connection of their own, so that small requests never wait behind them.
PURPOSE = "scan"
_GIVE_UP_S = 120


class CursorMender:
    """One task that mends all cursors which wait for it."""

    def __init__(
        self,
        cluster: Cluster,
        info: TableInfo,
        mended: Callable[[Cursor], None],
        failed: Callable[[LakewardError], None],
        dropped: Callable[[Cursor], None],
    ) -> None:
        self._cluster = cluster
        self._info = info
        self._on_mended = mended
        self._on_failed = failed
        self._on_dropped = dropped
        self._waiting: dict[Cursor, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._last_wrong: LakewardError | None = None

    def mend(self, cursor: Cursor, wrong: LakewardError | None = None) -> None:
        """Take a cursor in; it comes back by `mended` with an open channel to its leader."""
        self._waiting[cursor] = None
        self._last_wrong = wrong or self._last_wrong
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work())
            self._task.add_done_callback(self._on_end)

    def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()

    async def _work(self) -> None:
        clock = self._cluster.metadata.attended_s
        give_up_s = clock() + _GIVE_UP_S
        failures = 0
        while self._waiting:
            failures = max(failures, *(c.failures for c in self._waiting))
            await asyncio.sleep(self._cluster.backoff.pause_s(failures))
            waiting, self._waiting = self._waiting, {}
            try:
                for cursors in _by_partition(waiting).values():
                    await self._mend_partition(cursors, waiting)
                failures = 0
            except RetriableError as wrong:
                if clock() > give_up_s:
                    raise
                self._last_wrong = wrong
                failures += 1
                self._waiting = waiting | self._waiting
            if clock() > give_up_s and self._waiting and self._last_wrong is not None:
                raise self._last_wrong

    async def _mend_partition(self, cursors: list[Cursor], waiting: dict[Cursor, None]) -> None:
        partition = cursors[0].place.id.partition
        buckets = [c.place.bucket for c in cursors]
        try:
            await self._cluster.metadata.wait_for_leaders(self._info.path, buckets, partition)
            for cursor in cursors:
                cursor.channel = await self._cluster.leader(self._info.path, cursor.place.bucket, partition, PURPOSE)
                del waiting[cursor]
                self._on_mended(cursor)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS:
                raise
            for cursor in [c for c in cursors if c in waiting]:
                del waiting[cursor]
                self._on_dropped(cursor)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled():
            return
        wrong = task.exception()
        if isinstance(wrong, LakewardError):
            self._on_failed(wrong.code.error(f"The scan of {self._info.path} cannot go on: {wrong.message}"))
        elif wrong is not None:
            self._on_failed(ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The scan of {self._info.path} failed: {wrong!r}"))
        elif self._waiting:
            self.mend(next(iter(self._waiting)))


def _by_partition(cursors: dict[Cursor, None]) -> dict[int | None, list[Cursor]]:
    found: dict[int | None, list[Cursor]] = {}
    for cursor in cursors:
        found.setdefault(cursor.place.bucket.partition_id, []).append(cursor)
    return found
