"""Replication: what a log must be asked for where it may have copies on other servers. A server alone has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.storage.log.replica_log import ReplicaLog

#: An offset, or why there is none; and whoever is told.
Told = Callable[[int | LakewardError], None]


class Replication(Protocol):
    """Who leads a bucket, and how far its replicas have it."""

    def check_leads(self, bucket: TableBucket) -> None:
        """NOT_LEADER_OR_FOLLOWER unless this server leads a bucket."""
        ...

    def check_write(self, bucket: TableBucket, acks: int) -> None:
        """NOT_ENOUGH_REPLICAS where a write that all must have could not be promised to be kept."""
        ...

    def guard(self, bucket: TableBucket, acks: int, timeout_ms: int, done: Told) -> Told:
        """What to call with the outcome of a write, so that `done` hears of it when enough replicas have it."""
        ...

    def visible_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """Up to where clients may read: what every replica in sync has."""
        ...

    def follower_asks(self, bucket: TableBucket, follower: int, offset: int, log: ReplicaLog) -> None:
        """A replica on another server has everything before an offset, and asks for more."""
        ...

    def end_for(self, bucket: TableBucket, follower: int, log: ReplicaLog) -> int:
        """Where a replica is told that the log ends."""
        ...

    def elected_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """Where the log ended when its leader was elected."""
        ...


class Alone:
    """A server that leads every bucket, and has the only copy of each."""

    # ruff: noqa: ARG002 - it answers the same whatever is asked

    def check_leads(self, bucket: TableBucket) -> None:
        """It leads them all."""

    def check_write(self, bucket: TableBucket, acks: int) -> None:
        """One is enough."""

    def guard(self, bucket: TableBucket, acks: int, timeout_ms: int, done: Told) -> Told:
        """What is here is all there will be."""
        return done

    def visible_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """Everything."""
        return log.end_offset

    def follower_asks(self, bucket: TableBucket, follower: int, offset: int, log: ReplicaLog) -> None:
        """Whoever says to be a replica is served as a client."""

    def end_for(self, bucket: TableBucket, follower: int, log: ReplicaLog) -> int:
        """Everything."""
        return log.end_offset

    def elected_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """As it is now."""
        return log.end_offset
