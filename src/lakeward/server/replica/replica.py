"""Replica: what this server knows of one bucket, as leader or as follower."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.replication import Told
from lakeward.server.replica.following import Following
from lakeward.server.replica.in_sync import InSync
from lakeward.server.replica.standing import Role, Standing


class WaitingWrite(NamedTuple):
    """A write that is answered when all replicas in sync have everything before an offset; or that it is late."""

    until: int
    outcome: int
    done: Told
    late: LakewardError


@dataclass(slots=True, eq=False)
class Replica:
    """One bucket."""

    bucket: TableBucket
    #: Up to where all replicas in sync have the rows, as far as this server has heard.
    high_watermark: int
    standing: Standing = field(default_factory=Standing)
    in_sync: InSync | None = None
    following: Following | None = None
    _waiting: deque[tuple[WaitingWrite, asyncio.TimerHandle]] = field(default_factory=deque)

    @property
    def leads(self) -> bool:
        """Whether this server leads the bucket."""
        return self.standing.role is Role.LEADER

    def wait(self, write: WaitingWrite, loop: asyncio.AbstractEventLoop, wait_s: float) -> None:
        """Let a write wait, at most so long; later ones reach farther."""
        self._waiting.append((write, loop.call_later(wait_s, self._expire, loop)))

    def release(self) -> None:
        """Answer the writes that all have."""
        while self._waiting and self._waiting[0][0].until <= self.high_watermark:
            write, timer = self._waiting.popleft()
            timer.cancel()
            write.done(write.outcome)

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        """The time of some write is up."""
        late = [one for one in self._waiting if one[1].when() <= loop.time()]
        for one in late:
            self._waiting.remove(one)
        for write, _ in late:
            write.done(write.late)

    def refuse_waiting(self, wrong: LakewardError) -> None:
        """This server leads no more: what becomes of the writes is for the next leader to say."""
        waiting, self._waiting = self._waiting, deque()
        for write, timer in waiting:
            timer.cancel()
            write.done(wrong)
