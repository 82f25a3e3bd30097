"""The service: who is taken, run, reported, tried again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from eventually import eventually

from lakeward.client.admin.lake import HeartbeatAnswer, LakeTotals, TieringRound
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.model.table import TablePath
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.tiering.round.held_rounds import HeldRounds
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.service import TieringService


def round_of(table_id: int, epoch: int = 1) -> TieringRound:
    """A round as a coordinator gives it."""
    return TieringRound(table_id, TablePath("shop", f"t{table_id}"), 0, epoch)


class Coordinator:
    """Gives out what is in its queue, and remembers what it was told."""

    def __init__(self, *queue: TieringRound) -> None:
        self.lake = self
        self.queue = list(queue)
        self.told: list[dict[str, Any]] = []
        self.refused: dict[int, LakewardError] = {}
        self.is_reachable = True

    def heartbeat(self, **told: Any) -> HeartbeatAnswer:
        """One heartbeat."""
        if not self.is_reachable:
            raise ErrorCode.NETWORK.error("gone")
        self.told.append(told)
        assigned = self.queue.pop(0) if told["wants_table"] and self.queue else None
        refused, self.refused = self.refused, {}
        return HeartbeatAnswer(0, assigned, refused)

    def all(self, what: str) -> list[TieringRound]:
        """Everything ever reported so."""
        return [one for told in self.told for one in told[what]]


class Watching:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def on_begin(self, held: TieringRound) -> None:
        self.heard.append(("began", held.table_id))

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        self.heard.append(("ended", held.table_id))

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:
        self.heard.append(("overtaken", held.table_id))

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        self.heard.append(("failed", held.table_id, why.message, pause_s))

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        self.heard.append(("fenced", table_id))

    def on_silence(self, why: LakewardError) -> None:
        self.heard.append(("unreachable",))

    def close(self) -> None:
        self.heard.append(("closed",))


class Rounds:
    """What rounds do: by table, a report or an error; one that is held back waits."""

    def __init__(self) -> None:
        self.outcomes: dict[int, Any] = {}
        self.gates: dict[int, threading.Event] = {}
        self.begun: list[int] = []
        self.done = 0

    def __call__(self, held: TieringRound) -> RoundReport:
        self.begun.append(held.table_id)
        if held.table_id in self.gates:
            self.gates[held.table_id].wait(30)
        self.done += 1
        outcome = self.outcomes.get(held.table_id)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome or RoundReport(held.path, 1, repaired=False, rows=5, totals=LakeTotals(50, 5))


class World:
    """A service on fakes, stepped by hand."""

    def __init__(self, *queue: TieringRound, slots: int = 2, held: HeldRounds | None = None) -> None:
        self.coordinator = Coordinator(*queue)
        self.rounds = Rounds()
        self.clock = ManualClock()
        self.watcher = Watching()
        conn: Any = self.coordinator
        self.service = TieringService(conn, self.rounds, self.clock, self.watcher, slots, held)

    def steps(self, until: Any = None, count: int = 1) -> None:
        """A few steps, or steps until something holds."""
        if until is None:
            for _ in range(count):
                self.service.step()
            return

        def stepped() -> bool:
            self.service.step()
            return bool(until())

        assert eventually(stepped)


@pytest.fixture
def world() -> World:
    """One table in the queue."""
    return World(round_of(1))


def test_a_table_is_taken_run_and_reported(world: World) -> None:
    """With what the lake's table holds now."""
    world.steps(until=lambda: world.coordinator.all("finished"))
    assert {k: v for told in world.coordinator.told for k, v in told["finished"].items()} == {
        round_of(1): LakeTotals(50, 5)
    }
    assert world.watcher.heard == [("began", 1), ("ended", 1)]
    world.steps(count=3)
    assert len(world.coordinator.all("finished")) == 1


def test_as_many_tables_as_there_are_slots_run_side_by_side() -> None:
    """The rest waits at the coordinator, for whoever has room; a long one does not keep it from the others."""
    world = World(*(round_of(i) for i in range(1, 6)))
    world.rounds.gates[1] = threading.Event()
    world.steps(until=lambda: len(world.coordinator.all("finished")) == 4)
    assert round_of(1) not in world.coordinator.all("finished")
    world.rounds.gates[1].set()
    world.steps(until=lambda: round_of(1) in world.coordinator.all("finished"))


def test_no_table_is_asked_for_without_room() -> None:
    """While all slots are busy heartbeats only say that they go on."""
    world = World(round_of(1), round_of(2), slots=1)
    world.rounds.gates[1] = threading.Event()
    world.steps(until=lambda: world.rounds.begun)
    told = len(world.coordinator.told)
    world.steps(count=3)
    assert len(world.coordinator.told) == told
    world.clock.advance(20_000)
    world.steps()
    assert world.coordinator.told[-1]["tiering"] == [round_of(1)]
    assert not world.coordinator.told[-1]["wants_table"]
    world.rounds.gates[1].set()
    world.steps(until=lambda: world.rounds.begun == [1, 2])


def test_a_failed_table_waits_longer_each_time(world: World) -> None:
    """It is reported failed with its reason; when it is given to us again, it backs off first and takes no slot."""
    world.rounds.outcomes[1] = ErrorCode.INVALID_TABLE.error("no such type")
    world.steps(until=lambda: world.coordinator.all("failed"))
    assert world.watcher.heard[-1] == ("failed", 1, "no such type", 1.0)
    for epoch, pause_s in ((2, 1.0), (3, 2.0), (4, 4.0)):
        before = len(world.rounds.begun)
        world.coordinator.queue.append(round_of(1, epoch))
        world.steps(count=3)
        world.clock.advance(int(pause_s * 1000) - 1)
        world.steps(count=3)
        assert len(world.rounds.begun) == before
        world.clock.advance(1)
        world.steps(until=lambda epoch=epoch: round_of(1, epoch) in world.coordinator.all("failed"))
    world.rounds.outcomes.clear()
    world.coordinator.queue.append(round_of(1, 9))
    world.clock.advance(60_000)
    world.steps(count=2)
    world.clock.advance(60_000)
    world.steps(until=lambda: world.coordinator.all("finished"))
    world.coordinator.queue.append(round_of(1, 10))
    world.steps(until=lambda: round_of(1, 10) in world.coordinator.all("finished"))


def test_a_bug_in_a_round_fails_its_table_only(world: World) -> None:
    """It is told what it was."""
    world.rounds.outcomes[1] = ZeroDivisionError("oops")
    world.coordinator.queue.append(round_of(2))
    world.steps(until=lambda: world.coordinator.all("failed") and world.coordinator.all("finished"))
    assert ("failed", 1, "ZeroDivisionError: oops", 1.0) in world.watcher.heard


def test_a_trace_is_told_by_the_line_that_says_it(world: World) -> None:
    """Spark hands over what Python printed on an executor, and Java's own trace after it."""
    trace = (
        "An error occurred.\nTraceback (most recent call last):\n  File x\nOSError: disk full\n\n\tat java.lang.Thread"
    )
    world.rounds.outcomes[1] = RuntimeError(trace)
    world.steps(until=lambda: world.coordinator.all("failed"))
    assert world.watcher.heard[-1] == ("failed", 1, "RuntimeError: OSError: disk full", 1.0)


def test_a_round_that_was_overtaken_is_looked_at_again_at_once(world: World) -> None:
    """Somebody else committed first: finished, and due again."""
    world.rounds.outcomes[1] = LakeConflictError("another was first")
    world.steps(until=lambda: world.coordinator.all("finished"))
    assert world.coordinator.all("forced") == [round_of(1)]
    assert world.watcher.heard[-1] == ("overtaken", 1)


def test_a_coordinator_that_does_not_answer_is_told_later(world: World) -> None:
    """The outcome is kept, and counted once."""
    world.rounds.gates[1] = threading.Event()
    world.steps(until=lambda: world.rounds.begun)
    world.coordinator.is_reachable = False
    world.rounds.gates[1].set()
    assert eventually(lambda: world.rounds.done == 1)
    for _ in range(3):
        with pytest.raises(LakewardError, match="gone"):
            world.steps()
    world.coordinator.is_reachable = True
    world.steps(until=lambda: world.coordinator.all("finished"))
    assert world.watcher.heard.count(("ended", 1)) == 1


def test_a_round_that_the_coordinator_no_longer_knows_does_not_begin(world: World) -> None:
    """While it backs off another service may get it."""
    world.rounds.outcomes[1] = ErrorCode.INVALID_TABLE.error("no")
    world.steps(until=lambda: world.coordinator.all("failed"))
    world.coordinator.queue.append(round_of(1, 2))
    world.steps(count=2)
    world.coordinator.refused = {1: ErrorCode.FENCED_TIERING_EPOCH.error("another round")}
    world.steps()
    world.clock.advance(5000)
    world.steps(count=3)
    assert world.rounds.begun == [1]
    assert ("fenced", 1) in world.watcher.heard


def test_a_stopped_service_finishes_what_runs_and_gives_the_rest_back() -> None:
    """A table that backs off is given back at once; the coordinator need not wait for it."""
    world = World(round_of(1))
    world.rounds.outcomes[1] = ErrorCode.INVALID_TABLE.error("no")
    world.steps(until=lambda: world.coordinator.all("failed"))
    world.coordinator.queue.extend([round_of(1, 2), round_of(2)])
    world.rounds.gates[2] = threading.Event()
    world.steps(until=lambda: 2 in world.rounds.begun)
    world.service.stop()
    thread = threading.Thread(target=world.service.run)
    thread.start()
    assert eventually(lambda: round_of(1, 2) in world.coordinator.all("failed"))
    assert thread.is_alive()
    world.rounds.gates[2].set()
    thread.join(30)
    assert world.coordinator.all("finished") == [round_of(2)]


def test_a_service_without_a_coordinator_can_be_stopped(world: World) -> None:
    """Nobody is there to be told."""
    world.coordinator.is_reachable = False
    thread = threading.Thread(target=world.service.run)
    thread.start()
    assert eventually(lambda: ("unreachable",) in world.watcher.heard)
    world.service.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_the_rounds_of_a_service_that_died_are_given_back_at_the_start(tmp_path: Path) -> None:
    """With the first heartbeat, which also takes the table again."""
    entropy = SeededEntropy(1)
    died = World(round_of(1), held=HeldRounds(tmp_path, "here", entropy))
    died.rounds.gates[1] = threading.Event()
    died.steps(until=lambda: died.rounds.begun)
    alive = World(held=HeldRounds(tmp_path, "here", entropy))
    alive.steps()
    assert alive.coordinator.told[0]["failed"] == [], "who is alive keeps its rounds"
    _kill(died)
    next_ = World(round_of(1, 2), held=HeldRounds(tmp_path, "here", entropy))
    next_.coordinator.refused = {1: ErrorCode.FENCED_TIERING_EPOCH.error("timed out before")}
    next_.steps()
    assert next_.coordinator.told[0]["failed"] == [round_of(1)]
    next_.steps(until=lambda: next_.coordinator.all("finished"))
    assert ("fenced", 1) not in next_.watcher.heard
    died.rounds.gates[1].set()


def _kill(world: World) -> None:
    """The lock goes with the process."""
    import os

    file = world.service._file
    assert file is not None
    assert file._lock is not None
    os.close(file._lock)
    file._lock = None
