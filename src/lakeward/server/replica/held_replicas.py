"""HeldReplicas: the buckets that this server has a copy of: what it is to each, what clients may see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.buckets.replication import Told
from lakeward.server.replica.following import Following
from lakeward.server.replica.in_sync import InSync, Proposal
from lakeward.server.replica.replica import Replica, WaitingWrite
from lakeward.server.replica.standing import LeadershipOrder, Role, Turn
from lakeward.storage.log.replica_log import ReplicaLog

_ALL = -1


class ReplicaSettings(NamedTuple):
    """The numbers that replication obeys."""

    server_id: int
    lag_ms_max: int
    isr_min: int


class Ears(Protocol):
    """Who must hear what becomes of a bucket."""

    def note_advance(self, bucket: TableBucket) -> None:
        """Clients may see more of it."""
        ...

    def note_lead(self, bucket: TableBucket) -> None:
        """It is led here from now on."""
        ...

    def note_follow(self, replica: Replica) -> None:
        """It is followed from now on; its log is to become that of its leader."""
        ...

    def note_stop(self, bucket: TableBucket) -> None:
        """It is neither led nor followed here any more."""
        ...

    def report(self, replica: Replica, proposal: Proposal) -> None:
        """The coordinator is to be asked for another in-sync set."""
        ...


class HeldReplicas:
    """Bucket → what this server is to it. The `Replication` of a server that is one of several."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: ReplicaSettings,
        buckets: Buckets,
        logs: Logs,
        ears: Ears,
        is_alive: Callable[[int], bool],
        marks: Callable[[TableBucket], int | None],
    ) -> None:
        """`is_alive` tells whether a server is there; `marks` are the high watermarks of an earlier life."""
        self._loop = loop
        self.settings = settings
        self._buckets = buckets
        self._logs = logs
        self._ears = ears
        self._is_alive = is_alive
        self._marks = marks
        self._replicas: dict[TableBucket, Replica] = {}

    def __iter__(self) -> Iterator[Replica]:
        return iter(list(self._replicas.values()))

    def __len__(self) -> int:
        return len(self._replicas)

    def find(self, bucket: TableBucket) -> Replica | None:
        """What this server is to a bucket, if anything."""
        return self._replicas.get(bucket)

    def now_ms(self) -> int:
        """Time that only goes forward."""
        return int(self._loop.time() * 1000)

    # -- orders

    def obey(self, bucket: TableBucket, order: LeadershipOrder) -> Turn:
        """Lead or follow a bucket, as the coordinator says; refuse what is older than what is known."""
        self._buckets.table_of(bucket)
        log = self._logs.open(bucket)
        replica = self._replicas.get(bucket)
        if replica is None:
            mark = self._marks(bucket)
            replica = Replica(bucket, log.start_offset if mark is None else min(max(mark, 0), log.end_offset))
        known_epoch = replica.standing.bucket_epoch
        turn = replica.standing.obey(order, self.settings.server_id, bucket)
        self._replicas[bucket] = replica
        match turn:
            case Turn.LEAD:
                self._lead(replica, order, log)
            case Turn.GO_ON_LEADING if order.bucket_epoch > known_epoch:
                self._go_on_leading(replica, order)
            case Turn.FOLLOW:
                self._follow(replica, log)
            case _:
                pass  # said before; what was asked of the coordinator since then may be under way
        return turn

    def _lead(self, replica: Replica, order: LeadershipOrder, log: ReplicaLog) -> None:
        replica.following = None
        replica.in_sync = self._in_sync(order, log)
        self._ears.note_lead(replica.bucket)
        self._advance(replica)

    def _go_on_leading(self, replica: Replica, order: LeadershipOrder) -> None:
        assert replica.in_sync is not None
        replica.in_sync.change(order.replicas, order.isr, self.now_ms())
        self._advance(replica)

    def _in_sync(self, order: LeadershipOrder, log: ReplicaLog) -> InSync:
        me, isr_min = self.settings.server_id, self.settings.isr_min
        end, now_ms = log.end_offset, self.now_ms()
        return InSync(me, order.replicas, order.isr, elected_end=end, now_ms=now_ms, isr_min=isr_min)

    def _follow(self, replica: Replica, log: ReplicaLog) -> None:
        replica.in_sync = None
        replica.high_watermark = min(replica.high_watermark, log.end_offset)
        replica.following = Following.begin(max(replica.high_watermark, log.start_offset), log.end_offset)
        replica.refuse_waiting(self._not_leader(replica.bucket))
        self._ears.note_follow(replica)
        self._ears.note_advance(replica.bucket)  # whoever waits for rows is told to ask another server

    def stop(self, bucket: TableBucket, leader_epoch: int) -> None:
        """Be nothing to a bucket any more."""
        replica = self._replicas.get(bucket)
        if replica is None:
            return
        replica.standing.stop(leader_epoch, bucket)
        replica.following = replica.in_sync = None
        replica.refuse_waiting(self._not_leader(bucket))
        del self._replicas[bucket]
        self._ears.note_stop(bucket)
        self._ears.note_advance(bucket)

    # -- what the log asks: a `Replication`

    def check_leads(self, bucket: TableBucket) -> None:
        """NOT_LEADER_OR_FOLLOWER unless this server leads a bucket."""
        self._leading(bucket)

    def _leading(self, bucket: TableBucket) -> Replica:
        replica = self._replicas.get(bucket)
        if replica is None or replica.standing.role is not Role.LEADER:
            raise self._not_leader(bucket)
        return replica

    def _not_leader(self, bucket: TableBucket) -> LakewardError:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"Server {self.settings.server_id} does not lead {bucket}.")

    def check_write(self, bucket: TableBucket, acks: int) -> None:
        """NOT_ENOUGH_REPLICAS where a write that all must have could not be promised to be kept."""
        book = self._leading(bucket).in_sync
        if acks == _ALL and book is not None and not book.has_enough():
            raise ErrorCode.NOT_ENOUGH_REPLICAS.error(
                f"{len(book.isr)} of {book.isr_min} replicas of {bucket} are in sync; try again when more are."
            )

    def guard(self, bucket: TableBucket, acks: int, timeout_ms: int, done: Told) -> Told:
        """What to call with the outcome of a write, so that `done` hears of it when all replicas in sync have it."""

        def written(outcome: int | LakewardError) -> None:
            replica, log = self._replicas.get(bucket), self._logs.find(bucket)
            if isinstance(outcome, LakewardError) or replica is None or log is None:
                done(outcome)
                return
            until = log.end_offset
            self._advance(replica)
            if acks != _ALL or replica.high_watermark >= until:
                done(outcome)
                return
            late = ErrorCode.REQUEST_TIME_OUT.error(
                f"Not all replicas of {bucket} had offset {until - 1} within {timeout_ms} ms."
            )
            replica.wait(WaitingWrite(until, outcome, done, late), self._loop, timeout_ms / 1000)

        return written

    def visible_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """Up to where clients may read: what every replica in sync has."""
        return min(self._leading(bucket).high_watermark, log.end_offset)

    def follower_asks(self, bucket: TableBucket, follower: int, offset: int, log: ReplicaLog) -> None:
        """A replica on another server has everything before an offset, and asks for more."""
        replica = self._leading(bucket)
        book = replica.in_sync
        if book is None or not book.follows(follower):
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"Server {follower} is no replica of {bucket}.")
        book.fetch(follower, offset, log.end_offset, self.now_ms())
        self._advance(replica)
        proposal = book.joining(replica.high_watermark, self._is_alive)
        if proposal is not None:
            self._report(replica, book, proposal)

    def end_for(self, bucket: TableBucket, follower: int, log: ReplicaLog) -> int:
        """Where a replica is told that the log ends."""
        book = self._leading(bucket).in_sync
        return log.end_offset if book is None else book.end_for(follower, log.end_offset)

    def elected_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """Where the log ended when its leader was elected."""
        book = self._leading(bucket).in_sync
        return log.end_offset if book is None else book.elected_end

    # -- the high watermark and the in-sync set

    def _advance(self, replica: Replica) -> None:
        """See whether all have more than they had."""
        log, book = self._logs.find(replica.bucket), replica.in_sync
        if log is None or book is None:
            return
        mark = book.high_watermark(replica.high_watermark, log.end_offset, self.now_ms(), self.settings.lag_ms_max)
        if mark > replica.high_watermark:
            replica.high_watermark = mark
            replica.release()
            self._ears.note_advance(replica.bucket)

    def look(self) -> None:
        """By the clock: who has not kept up leaves the in-sync set."""
        now_ms = self.now_ms()
        for replica in self:
            book, log = replica.in_sync, self._logs.find(replica.bucket)
            if book is None or log is None:
                continue
            proposal = book.leaving(log.end_offset, now_ms, self.settings.lag_ms_max)
            if proposal is not None:
                self._report(replica, book, proposal)
            self._advance(replica)

    def _report(self, replica: Replica, book: InSync, proposal: Proposal) -> None:
        book.propose(proposal)
        self._ears.report(replica, proposal)

    def settle(self, replica: Replica, proposal: Proposal, isr: tuple[int, ...], bucket_epoch: int) -> None:
        """The coordinator has taken another in-sync set."""
        if replica.in_sync is None or bucket_epoch < replica.standing.bucket_epoch:
            return
        if replica.in_sync.settle(proposal, isr):
            replica.standing.bucket_epoch = bucket_epoch
            self._advance(replica)
