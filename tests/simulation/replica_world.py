"""Three tablet servers and a coordinator in one thread: who gets to act is decided by a seed, and so is what breaks.

The rules are those of the server (`server.replica`), the logs are real ones in memory; messages between servers are
calls that may be lost before or after they took effect.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from logs import append, open_log

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import PbFetchLogRespForBucket
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.server.replica.following import AFTER_ERRORS, After, Step
from lakeward.server.replica.held_replicas import HeldReplicas, ReplicaSettings
from lakeward.server.replica.in_sync import REPORT_ERRORS, Proposal, Report
from lakeward.server.replica.log_copy import LogCopy
from lakeward.server.replica.replica import Replica
from lakeward.server.replica.standing import LeadershipOrder
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.replica_log import ReplicaLog

BUCKET = TableBucket(1, None, 0)
SERVERS = (0, 1, 2)
_LAG_MS = 40
_FETCH_BYTES = 400


class Clock:
    """Time goes on when the world says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        """The loop's clock, in seconds."""
        return self.now

    def call_later(self, _delay: float, _call: object, *_: object) -> asyncio.TimerHandle:
        """Writes never give up here: what is never answered is never promised."""
        return cast("asyncio.TimerHandle", SimpleNamespace(cancel=lambda: None))


@dataclass
class Truth:
    """What the coordinator has decided, as its ZooKeeper has it."""

    leader: int = 0
    leader_epoch: int = 0
    isr: tuple[int, ...] = SERVERS
    bucket_epoch: int = 0

    def order(self) -> LeadershipOrder:
        """What servers are told."""
        return LeadershipOrder(self.leader, self.leader_epoch, self.bucket_epoch, 0, SERVERS, self.isr)


class Server:
    """One life after the other of a tablet server; its disk stays."""

    def __init__(self, number: int, clock: Clock, world: World) -> None:
        self.number, self._clock, self._world = number, clock, world
        self._files = MemoryFiles()
        self._mark: int | None = None
        self.is_up = False
        self.log: ReplicaLog
        self.start()

    def start(self) -> None:
        """Come up with what is on disk."""
        self.log = open_log(Path("/log"), files=OpenFiles(self._files, 8), segment_bytes_max=600)
        logs: Any = SimpleNamespace(open=lambda _: self.log, find=lambda _: self.log)
        buckets: Any = SimpleNamespace(table_of=lambda _: None)
        settings = ReplicaSettings(self.number, _LAG_MS, 1)
        loop: Any = self._clock
        self.held = HeldReplicas(loop, settings, buckets, logs, self, self._world.is_up, lambda _: self._mark)
        self.copy = LogCopy(logs, lambda: 0, lambda *_: None)
        self.proposals: list[tuple[Replica, Proposal]] = []
        self.is_up = True

    def kill(self) -> None:
        """All that was in memory is gone; what was written is there."""
        self.is_up = False

    def note_mark(self) -> None:
        """By the clock: how far it is certain is written down."""
        replica = self.held.find(BUCKET)
        if replica is not None:
            self._mark = replica.high_watermark

    def replica(self) -> Replica | None:
        """What it is to the bucket."""
        return self.held.find(BUCKET)

    # -- Ears

    def note_advance(self, bucket: TableBucket) -> None:
        """Nobody waits for rows here."""

    def note_lead(self, bucket: TableBucket) -> None:
        """The world looks for itself."""

    def note_follow(self, replica: Replica) -> None:
        """The world has followers act."""

    def note_stop(self, bucket: TableBucket) -> None:
        """Never here."""

    def report(self, replica: Replica, proposal: Proposal) -> None:
        """It is sent when the world says so."""
        self.proposals.append((replica, proposal))


@dataclass
class World:
    """Everything there is."""

    seed: int
    clock: Clock = field(default_factory=Clock)
    truth: Truth = field(default_factory=Truth)
    #: Bodies of the batches that writers were promised to find again, by offset.
    promised: dict[int, bytes] = field(default_factory=dict)
    #: Pairs of servers that do not reach each other; -1 is the coordinator.
    cut: set[frozenset[int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.servers = [Server(number, self.clock, self) for number in SERVERS]
        self._written = 0
        self._led: dict[int, int] = {}
        for server in self.servers:
            self.tell(server)

    def is_up(self, number: int) -> bool:
        """Whether a server runs."""
        return self.servers[number].is_up

    def reach(self, one: int, other: int) -> bool:
        """Whether a message gets through now."""
        return frozenset((one, other)) not in self.cut and self.chance.random() > 0.03

    # -- what may happen

    def act(self) -> None:
        """Something happens."""
        self.clock.now += self.chance.random() * 0.01
        server = self.chance.choice(self.servers)
        acts = [self.write] * 6 + [self.fetch] * 10 + [self.report] * 3 + [self.tell] * 2 + [self.look, self.break_it]
        self.chance.choice(acts)(server)

    def write(self, server: Server) -> None:
        """A client that takes this server for the leader sends a batch, to be kept by all."""
        replica = server.replica()
        if not server.is_up or replica is None or not replica.leads:
            return
        body = f"batch {self._written:06d} by {server.number}".encode()
        self._written += 1

        def done(outcome: int | LakewardError) -> None:
            if not isinstance(outcome, LakewardError):
                assert self.promised.setdefault(outcome, body) == body, "two promises for one offset"

        told = server.held.guard(BUCKET, -1, 1000, done)
        try:
            server.held.check_write(BUCKET, -1)
            told(append(server.log, 2, now_ms=int(self.clock.now * 1000), body=body))
        except LakewardError as wrong:
            done(wrong)

    def fetch(self, server: Server) -> None:
        """A follower asks whom it takes for its leader."""
        replica = server.replica()
        if not server.is_up or replica is None or replica.following is None:
            return
        leader = self.servers[replica.standing.leader]
        if not leader.is_up or not self.reach(server.number, leader.number):
            server.copy.doubt(replica)
            return
        try:
            answer = self._answer(leader, server.number, replica.following.offset)
        except LakewardError as wrong:
            if AFTER_ERRORS.get(wrong.code) is After.LOCATE:
                self._locate(server, leader)
            else:
                server.copy.doubt(replica)
            return
        if not self.reach(server.number, leader.number):
            server.copy.doubt(replica)
            return
        try:
            cut = server.copy.take(replica, answer)
            if cut is not None:
                server.copy.cut(replica, cut)
                server.copy.take(replica, answer)
        except LakewardError as wrong:
            if AFTER_ERRORS.get(wrong.code) is After.LOCATE:
                self._locate(server, leader)

    def _answer(self, leader: Server, follower: int, offset: int) -> PbFetchLogRespForBucket:
        leader.held.check_leads(BUCKET)
        leader.held.follower_asks(BUCKET, follower, offset, leader.log)
        read = leader.log.read(offset, _FETCH_BYTES, at_least_one=True)
        mark = leader.held.visible_end(BUCKET, leader.log)
        return PbFetchLogRespForBucket(bucket_id=0, high_watermark=mark, records=bytes(read.data))

    def _locate(self, server: Server, leader: Server) -> None:
        replica = server.replica()
        if replica is not None and replica.following is not None and self.reach(server.number, leader.number):
            try:
                leader.held.check_leads(BUCKET)
                end = leader.held.end_for(BUCKET, server.number, leader.log)
            except LakewardError:
                return
            server.copy.locate(replica, leader.log.start_offset, end)

    def report(self, server: Server) -> None:
        """A leader asks the coordinator for another in-sync set."""
        if not server.is_up or not server.proposals or not self.reach(server.number, -1):
            return
        replica, proposal = server.proposals.pop(0)
        book = replica.in_sync
        if book is None or book.proposed is not proposal:
            return
        truth, standing = self.truth, replica.standing
        if standing.leader_epoch != truth.leader_epoch or truth.leader != server.number:
            code = ErrorCode.FENCED_LEADER_EPOCH
        elif standing.bucket_epoch != truth.bucket_epoch:
            code = ErrorCode.INVALID_UPDATE_VERSION
        else:
            truth.isr, truth.bucket_epoch = proposal.isr, truth.bucket_epoch + 1
            if self.reach(server.number, -1):
                server.held.settle(replica, proposal, truth.isr, truth.bucket_epoch)
                return
            code = ErrorCode.NETWORK  # it was taken, and nobody heard of it
        if book.reject(proposal, REPORT_ERRORS.get(code, Report.UNKNOWN)):
            server.proposals.append((replica, proposal))

    def tell(self, server: Server) -> None:
        """The coordinator tells a server what it has decided; again is fine."""
        if not server.is_up or not self.reach(server.number, -1):
            return
        before = server.replica()
        led = before is not None and before.leads
        try:
            server.held.obey(BUCKET, self.truth.order())
        except LakewardError as wrong:
            if wrong.code not in {ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.FENCED_LEADER_EPOCH}:
                raise
        replica = server.replica()
        if replica is not None and replica.leads:
            first = self._led.setdefault(replica.standing.leader_epoch, server.number)
            assert first == server.number, "two leaders of one epoch"
        elif led:
            self._meet_old_leader(server)

    def _meet_old_leader(self, server: Server) -> None:
        """Followers ask every few milliseconds. A fetch has no epoch: whoever still takes this server for its leader
        must have asked once before it leads again, or it could not know of the time between."""
        for other in self.servers:
            replica = other.replica()
            if other.is_up and replica is not None and replica.standing.leader == server.number:
                self.fetch(other)

    def look(self, server: Server) -> None:
        """What is done by the clock."""
        if server.is_up:
            server.held.look()
            if self.chance.random() < 0.5:
                server.note_mark()

    def break_it(self, server: Server) -> None:
        """Servers die and come back, the coordinator elects, lines are cut and mended."""
        kind = self.chance.randrange(6)
        if kind == 0 and server.is_up:
            server.kill()
            self._meet_old_leader(server)
        elif kind in {1, 2}:
            for one in self.servers:
                if not one.is_up:
                    one.start()
                    self.tell(one)
                    break
        elif kind == 3:
            self.elect()
        elif kind == 4:
            self.cut.add(frozenset(self.chance.sample((-1, *SERVERS), 2)))
        else:
            self.cut.clear()

    def elect(self) -> None:
        """The coordinator takes a leader away, for it is dead or seems so, and elects another that is in sync."""
        truth = self.truth
        fit = [n for n in truth.isr if n != truth.leader and self.is_up(n)]
        if not fit:
            return
        gone = truth.leader
        truth.leader, truth.leader_epoch = self.chance.choice(fit), truth.leader_epoch + 1
        truth.isr, truth.bucket_epoch = tuple(n for n in truth.isr if n != gone), truth.bucket_epoch + 1
        for server in self.servers:
            if self.chance.random() < 0.7:
                self.tell(server)

    @staticmethod
    def _compares(server: Server) -> bool:
        replica = server.replica()
        return replica is not None and replica.following is not None and replica.following.step is Step.COMPARE

    # -- the end

    def heal(self) -> None:
        """Everybody comes back, hears the truth, and gets what the leader has."""
        self.cut.clear()
        for server in self.servers:
            if not server.is_up:
                server.start()
        for _ in range(400):
            for server in self.servers:
                self.tell(server)
                for _ in range(3):
                    self.fetch(server)
                self.report(server)
            self.clock.now += 0.001
            ends = {server.log.end_offset for server in self.servers}
            if len(ends) == 1 and len(self.truth.isr) == len(SERVERS) and not any(map(self._compares, self.servers)):
                return
        raise AssertionError(f"they do not come together: {[s.log.end_offset for s in self.servers]}, {self.truth}")
