"""Patience: how often, and how fast, a question to a bucket's leader is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lakeward.client.cluster.cluster import Cluster
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.rpc.channel import Channel

T = TypeVar("T")

_GIVE_UP_S = 60
#: After these the leader is looked up again.
STALE_METADATA = {
    ErrorCode.NETWORK,
    ErrorCode.REQUEST_TIME_OUT,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TABLE_OR_BUCKET,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.FENCED_LEADER_EPOCH,
}


class Patience:
    """The repetitions of one call."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._clock = cluster.metadata.attended_s
        self._give_up_s = self._clock() + _GIVE_UP_S
        self._failures = 0

    def allows(self, wrong: LakewardError, bucket: TableBucket | None = None) -> bool:
        """Whether to ask again after this error; the leader of a bucket that may have moved is looked up again."""
        if not isinstance(wrong, RetriableError) and wrong.code is not ErrorCode.FENCED_LEADER_EPOCH:
            return False
        if bucket is not None and wrong.code in STALE_METADATA:
            self._cluster.metadata.forget(bucket)
        return self._clock() <= self._give_up_s

    async def rest(self) -> None:
        """Wait, longer each time."""
        self._failures += 1
        await asyncio.sleep(self._cluster.backoff.pause_s(self._failures))


async def patiently(cluster: Cluster, ask: Callable[[], Awaitable[T]]) -> T:
    """Ask what rows wait for, of no leader in particular, until it is answered or has taken too long."""
    patience = Patience(cluster)
    while True:
        try:
            return await ask()
        except LakewardError as wrong:
            if not patience.allows(wrong):
                raise
        await patience.rest()


async def ask_leader(
    cluster: Cluster,
    path: TablePath,
    bucket: TableBucket,
    partition: str | None,
    ask: Callable[[Channel], Awaitable[T]],
) -> T:
    """Ask the leader of one bucket; `ask` raises the errors that its answer holds."""
    patience = Patience(cluster)
    while True:
        try:
            return await ask(await cluster.leader(path, bucket, partition))
        except LakewardError as wrong:
            if not patience.allows(wrong, bucket):
                raise
        await patience.rest()


async def patient_leader(cluster: Cluster, path: TablePath, bucket: TableBucket, partition: str | None) -> Channel:
    """A channel to the leader of one bucket; one that cannot be reached is waited for, or its successor."""

    async def itself(channel: Channel) -> Channel:
        return channel

    return await ask_leader(cluster, path, bucket, partition, itself)
