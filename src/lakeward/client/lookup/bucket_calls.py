"""Requests to the leaders of many buckets: sent together where leaders are shared, repeated where one has moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import Patience
from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.rpc.channel import Channel


@dataclass(frozen=True, slots=True, eq=False)
class KeyGroup:
    """Keys that are asked of one bucket; `which` are their places among all keys of the call."""

    bucket: TableBucket
    partition: str | None
    which: NDArray[np.intp]

    def __str__(self) -> str:
        where = f"bucket {self.bucket.bucket}"
        return where if self.partition is None else f"{where} of partition {self.partition}"


#: Sends one request for groups that share a leader; tells what went wrong with some of them.
Send: TypeAlias = Callable[[Channel, Sequence[KeyGroup]], Awaitable[Mapping[KeyGroup, LakewardError]]]


class BucketCalls:
    """Calls of one table's buckets."""

    def __init__(self, cluster: Cluster, info: TableInfo, *, keys_max: int, in_flight_max: int) -> None:
        self._cluster = cluster
        self._info = info
        self._keys_max = keys_max
        self._in_flight = asyncio.Semaphore(in_flight_max)

    async def settle(self, groups: Sequence[KeyGroup], send: Send) -> None:
        """Send until every group was answered; raises the first error that no repetition mends."""
        left: list[KeyGroup] = [part for group in groups for part in self._parts(group)]
        patience = Patience(self._cluster)
        while left:
            failed = await self._once(left, send)
            left = list(failed)
            for group, wrong in failed.items():
                if not patience.allows(wrong, group.bucket):
                    raise wrong.code.error(f"{self._info.path}, {group}: {wrong.message}")
            if left:
                await patience.rest()

    async def _once(self, groups: Sequence[KeyGroup], send: Send) -> dict[KeyGroup, LakewardError]:
        failed: dict[KeyGroup, LakewardError] = {}
        by_leader: dict[Channel, list[KeyGroup]] = {}
        for group in groups:
            try:
                channel = await self._cluster.leader(self._info.path, group.bucket, group.partition)
            except LakewardError as wrong:
                failed[group] = wrong
            else:
                by_leader.setdefault(channel, []).append(group)
        requests = [(channel, part) for channel, shared in by_leader.items() for part in self._requests(shared)]
        if len(requests) == 1:  # without a task of its own, which a single lookup would notice
            failed.update(await self._one(*requests[0], send))
            return failed
        for outcome in await asyncio.gather(*(self._one(channel, part, send) for channel, part in requests)):
            failed.update(outcome)
        return failed

    async def _one(self, channel: Channel, groups: Sequence[KeyGroup], send: Send) -> Mapping[KeyGroup, LakewardError]:
        async with self._in_flight:
            try:
                return await send(channel, groups)
            except LakewardError as wrong:
                return dict.fromkeys(groups, wrong)

    def _parts(self, group: KeyGroup) -> Iterator[KeyGroup]:
        for at in range(0, len(group.which), self._keys_max):
            yield KeyGroup(group.bucket, group.partition, group.which[at : at + self._keys_max])

    def _requests(self, groups: Sequence[KeyGroup]) -> Iterator[list[KeyGroup]]:
        """Groups that travel together; a bucket is named once in a request."""
        request: list[KeyGroup] = []
        keys = 0
        for group in groups:
            full = keys + len(group.which) > self._keys_max or any(g.bucket == group.bucket for g in request)
            if request and full:
                yield request
                request, keys = [], 0
            request.append(group)
            keys += len(group.which)
        if request:
            yield request
