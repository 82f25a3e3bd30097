"""SoleReplicas: buckets with one replica each, so that nobody follows anybody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.member.replicas import LeaderOrder


class SoleReplicas:
    """Leads, or has nothing to do with a bucket."""

    def __init__(
        self,
        led: Leadership,
        buckets: Buckets,
        learn: Callable[[TableBucket], Awaitable[None]],
        forget: Callable[[TableBucket], None],
        release: Callable[[TableBucket], None],
    ) -> None:
        """`learn` finds out what must be known of a bucket before it is led; `forget` lets go of one whose files go,
        `release` of one whose files stay."""
        self._led = led
        self._buckets = buckets
        self._learn = learn
        self._forget = forget
        self._release = release

    async def lead(self, order: LeaderOrder) -> None:
        """Take writes of a bucket from now on."""
        self._check(order.bucket, order.leader_epoch)
        if order.bucket not in self._led:
            await self._learn(order.bucket)
        self._led.take(order.bucket, order.leader_epoch)

    def follow(self, order: LeaderOrder) -> None:
        """Somebody else leads it; a copy is not kept here."""
        self._check(order.bucket, order.leader_epoch)
        self._give_up(order.bucket)
        if self._led.server_id in order.replicas:
            raise ErrorCode.INVALID_REPLICATION_FACTOR.error(
                f"Server {self._led.server_id} keeps no second copy of {order.bucket}."
            )

    def stop(self, bucket: TableBucket, leader_epoch: int, *, delete: bool) -> None:
        """Have no more to do with a bucket; with `delete`, its files go."""
        self._check(bucket, leader_epoch)
        if not delete:
            self._give_up(bucket)
            return
        self._led.give_up(bucket)
        self._forget(bucket)
        self._buckets.remove_bucket(bucket)

    def _give_up(self, bucket: TableBucket) -> None:
        if bucket in self._led:
            self._led.give_up(bucket)
            self._release(bucket)

    def _check(self, bucket: TableBucket, epoch: int) -> None:
        current = self._led.epoch(bucket)
        if current is not None and epoch < current:
            raise ErrorCode.FENCED_LEADER_EPOCH.error(
                f"{bucket} is led by server {self._led.server_id} in epoch {current}; {epoch} is older."
            )
