"""ClusterReplicas: the buckets that a coordinator hands out to a server that is one of several, led and followed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import Clock
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.member.replicas import LeaderOrder
from lakeward.server.replica.follower_fetches import FetchSettings, FollowerFetches
from lakeward.server.replica.held_replicas import HeldReplicas, ReplicaSettings
from lakeward.server.replica.in_sync import Proposal
from lakeward.server.replica.isr_reports import IsrReports
from lakeward.server.replica.log_copy import LogCopy
from lakeward.server.replica.marks import MarksFile
from lakeward.server.replica.peers import Peers
from lakeward.server.replica.replica import Replica
from lakeward.server.replica.standing import LeadershipOrder
from lakeward.server.tablet.table_changes import TableChanges
from lakeward.server.tablet.tablets import Tablets


class ClusterParts(NamedTuple):
    """What the replicas of a server are made of."""

    loop: asyncio.AbstractEventLoop
    tablets: Tablets
    changes: TableChanges
    led: Leadership
    peers: Peers
    clock: Clock
    marks: MarksFile
    mark_interval_ms: int
    #: Waits until nothing is being written about logs in the background.
    settle: Callable[[], Awaitable[None]]
    is_alive: Callable[[int], bool]
    coordinator_epoch: Callable[[], int]
    #: Finds out what of a bucket is in remote storage, before it is led; lets go of one that is led no more.
    learn: Callable[[TableBucket], Awaitable[None]]
    let_go: Callable[[TableBucket], None]


class ClusterReplicas:
    """Obeys a coordinator bucket by bucket; hears what becomes of them, and sees to what follows from it."""

    def __init__(self, parts: ClusterParts, settings: ReplicaSettings, fetches: FetchSettings) -> None:
        self._parts = parts
        self._mark_due_ms = 0
        tablets = parts.tablets
        self.held = HeldReplicas(
            parts.loop, settings, tablets.buckets, tablets.logs, self, parts.is_alive, parts.marks.before
        )
        copy = LogCopy(tablets.logs, parts.clock.now_ms, self._cut)
        self._fetches = FollowerFetches(fetches, parts.peers, copy, parts.settle)
        self._reports = IsrReports(settings.server_id, parts.peers, self.held.settle)
        tablets.buckets.join(self.held)

    # -- orders

    async def lead(self, order: LeaderOrder) -> None:
        """Take writes of a bucket from now on; NETWORK when nobody says what of it is in remote storage."""
        replica = self.held.find(order.bucket)
        if replica is None or not replica.leads or order.leader_epoch > replica.standing.leader_epoch:
            await self._parts.learn(order.bucket)
        self._obey(order)

    def follow(self, order: LeaderOrder) -> None:
        """Follow another server in a bucket."""
        self._obey(order)

    def _obey(self, order: LeaderOrder) -> None:
        epoch = self._parts.coordinator_epoch()
        told = LeadershipOrder(order.leader, order.leader_epoch, order.bucket_epoch, epoch, order.replicas, order.isr)
        self.held.obey(order.bucket, told)

    def stop(self, bucket: TableBucket, leader_epoch: int, *, delete: bool) -> None:
        """Have no more to do with a bucket; with `delete`, its files go."""
        self.held.stop(bucket, leader_epoch)
        if delete:
            self._parts.changes.forget_bucket(bucket)
            self._parts.tablets.buckets.remove_bucket(bucket)

    # -- what becomes of them

    def note_advance(self, bucket: TableBucket) -> None:
        """Clients may see more of it."""
        self._parts.tablets.waiters.touch(bucket)

    def note_lead(self, bucket: TableBucket) -> None:
        """It is led here from now on; its state is made from what its log has."""
        self._fetches.end(bucket)
        self._parts.tablets.states.forget(bucket.__eq__)
        replica = self.held.find(bucket)
        assert replica is not None
        self._parts.led.take(bucket, replica.standing.leader_epoch)

    def note_follow(self, replica: Replica) -> None:
        """It is followed from now on; its log is to become that of its leader."""
        bucket = replica.bucket
        self._parts.led.give_up(bucket)
        self._parts.let_go(bucket)
        self._parts.tablets.states.forget(bucket.__eq__)
        self._fetches.begin(replica)

    def note_stop(self, bucket: TableBucket) -> None:
        """It is neither led nor followed here any more."""
        self._fetches.end(bucket)
        self._parts.led.give_up(bucket)
        self._parts.let_go(bucket)
        self._parts.changes.release_bucket(bucket)

    def report(self, replica: Replica, proposal: Proposal) -> None:
        """The coordinator is to be asked for another in-sync set."""
        self._reports.begin(replica, proposal)

    def _cut(self, bucket: TableBucket, offset: int) -> None:
        """A log ends earlier than it did: no snapshot of its state may know more."""
        self._parts.tablets.states.drop_snapshots(bucket, offset)

    # -- by the clock

    def look(self) -> None:
        """Who has not kept up leaves; how far each bucket is certain is noted."""
        self.held.look()
        now_ms = self.held.now_ms()
        if now_ms >= self._mark_due_ms:
            self._mark_due_ms = now_ms + self._parts.mark_interval_ms
            self._parts.marks.note({replica.bucket: replica.high_watermark for replica in self.held})

    async def close(self) -> None:
        """Follow nobody and report nothing any more."""
        await self._fetches.stop()
        await self._reports.stop()
        self._parts.marks.note({replica.bucket: replica.high_watermark for replica in self.held})
