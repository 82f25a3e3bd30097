"""Replicas: what is done with the buckets that a coordinator hands out to this server."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.servers.orders import PbNotifyLeaderAndIsrReqForBucket


@dataclass(frozen=True, slots=True)
class LeaderOrder:
    """Who leads a bucket from now on, and who follows."""

    bucket: TableBucket
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    bucket_epoch: int
    standby: tuple[int, ...]

    @classmethod
    def of(cls, bucket: TableBucket, told: PbNotifyLeaderAndIsrReqForBucket) -> LeaderOrder:
        """What a message says of one bucket."""
        return cls(
            bucket,
            told.leader,
            told.leader_epoch,
            tuple(told.replicas),
            tuple(told.isr),
            told.bucket_epoch,
            tuple(told.standby_replicas),
        )


class Replicas(Protocol):
    """The buckets of this server. What is refused is raised; the coordinator is told of it, bucket by bucket."""

    def lead(self, order: LeaderOrder) -> Awaitable[None] | None:
        """Take writes of a bucket from now on; FENCED_LEADER_EPOCH when a newer order has come."""
        ...

    def follow(self, order: LeaderOrder) -> Awaitable[None] | None:
        """Follow another server in a bucket."""
        ...

    def stop(self, bucket: TableBucket, leader_epoch: int, *, delete: bool) -> Awaitable[None] | None:
        """Have no more to do with a bucket; with `delete`, its files go."""
        ...
