"""RemoteReads: one scan's way through segments in file stores, patient with stores and with servers that move on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.remote.piece_cutter import Cut
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo

if TYPE_CHECKING:
    from lakeward.client.decode.log_decoder import LogDecoder
    from lakeward.client.read.cursor import Cursor

#: Pieces that one scan has under way or waiting, over all of its buckets.
_SLOTS = 16
#: A segment that expired is another one when the server is asked again; one that is lost stays lost.
_MISSING_MAX = 5
#: A store that does not answer may come back. It was asked for half a minute before we hear of it.
_GIVE_UP_S = 120

Take = Callable[["Cursor", list[Cut]], Awaitable[None]]


@dataclass(slots=True)
class _Trouble:
    """Failures of a bucket's segments since something could be read."""

    since_s: float
    failures: int = 0


class RemoteReads:
    """Reads segments for the buckets of one scan."""

    def __init__(self, cluster: Cluster, take: Take, decoder: LogDecoder | None = None) -> None:
        """A decoder that wants some columns gets these alone, where that is cheaper."""
        self._cluster = cluster
        self._take = take
        self._decoder = decoder
        self._slots = asyncio.Semaphore(_SLOTS)
        self._troubles: dict[Cursor, _Trouble] = {}

    async def read(self, cursor: Cursor, info: PbRemoteLogFetchInfo) -> None:
        """Read on from a cursor. Afterwards the server is asked for what follows, or again where a store failed."""
        before = cursor.next_offset
        try:
            batches = await self._cluster.remote.read(info, self._slots, cursor.end_offset, self._decoder)
            async with aclosing(batches):
                async for cuts in batches:
                    await self._take(cursor, cuts)
                    self._troubles.pop(cursor, None)
                    if cursor.done:
                        return
        except LakewardError as wrong:
            if not self._may_pass(cursor, wrong):
                raise
            await self._rest(cursor)
            return
        if cursor.next_offset == before:
            ends = [s.remote_log_end_offset for s in info.remote_log_segments]
            raise ErrorCode.CORRUPT_RECORD.error(
                f"The remote segments in {info.remote_log_tablet_dir} hold nothing from offset {before} on. "
                f"The log goes on at offset {max(ends, default=before)}."
            )

    def _may_pass(self, cursor: Cursor, wrong: LakewardError) -> bool:
        """Whether the same bucket may be readable in a while."""
        now_s = asyncio.get_running_loop().time()
        trouble = self._troubles.setdefault(cursor, _Trouble(now_s))
        trouble.failures += 1
        if isinstance(wrong, RetriableError):
            return now_s < trouble.since_s + _GIVE_UP_S
        is_gone = wrong.code in {ErrorCode.STORAGE, ErrorCode.SECURITY_TOKEN}
        return is_gone and trouble.failures < _MISSING_MAX

    async def _rest(self, cursor: Cursor) -> None:
        await asyncio.sleep(self._cluster.store_backoff.pause_s(self._troubles[cursor].failures))
