"""Timers, queue, epochs and heartbeats of lake tables, by a clock of the test's own."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.coordinator.lake.tiering_machine import HEARTBEAT_TIMEOUT_MS, Assignment, TieringMachine
from lakeward.server.coordinator.lake.tiering_states import TieringState

FRESHNESS_MS = 5000
A, B, C = 1, 2, 3


@pytest.fixture
def machine() -> TieringMachine:
    """Three tables that became lake tables at 0, 1 and 2 ms."""
    machine = TieringMachine()
    for now_ms, table_id in enumerate((A, B, C)):
        machine.add(table_id, FRESHNESS_MS, now_ms, now_ms)
    return machine


def state(machine: TieringMachine, table_id: int = A) -> TieringState:
    """The state a table is in."""
    table = machine.table(table_id)
    assert table is not None
    return table.state


def taken(machine: TieringMachine, now_ms: int = FRESHNESS_MS + 10) -> Assignment:
    """The next table, once its time has come."""
    machine.tick(now_ms)
    found = machine.take(now_ms)
    assert found is not None
    return found


def refusal(call: object, *arguments: object) -> ErrorCode:
    """The code of the error a call ends with."""
    with pytest.raises(LakewardError) as wrong:
        call(*arguments)  # type: ignore[operator]
    return wrong.value.code


def test_a_new_table_waits_for_its_freshness(machine: TieringMachine) -> None:
    """Not a millisecond less, and nobody can take it before."""
    machine.tick(FRESHNESS_MS - 1)
    assert state(machine) is TieringState.SCHEDULED
    assert machine.take(FRESHNESS_MS - 1) is None
    machine.tick(FRESHNESS_MS)
    assert state(machine) is TieringState.PENDING


def test_tables_are_taken_in_the_order_they_became_due(machine: TieringMachine) -> None:
    """First in, first out, each with its first epoch; then there is none."""
    assert [taken(machine) for _ in range(3)] == [(A, 1), (B, 1), (C, 1)]
    assert machine.take(FRESHNESS_MS + 10) is None


def test_a_table_from_before_a_restart_goes_by_its_last_snapshot() -> None:
    """One whose freshness is used up is due at once."""
    machine = TieringMachine()
    machine.add(A, FRESHNESS_MS, tiered_ms=1000, now_ms=6000, restarted=True)
    machine.add(B, FRESHNESS_MS, tiered_ms=5999, now_ms=6000, restarted=True)
    machine.tick(6000)
    assert (state(machine, A), state(machine, B)) == (TieringState.PENDING, TieringState.SCHEDULED)


def test_a_finished_round_is_followed_by_the_freshness(machine: TieringMachine) -> None:
    """Counted from its end, with the next epoch."""
    table_id, epoch = taken(machine, 6000)
    assert machine.finish(table_id, epoch, 7000)
    machine.tick(7000 + FRESHNESS_MS - 1)
    assert state(machine) is TieringState.SCHEDULED
    machine.tick(7000 + FRESHNESS_MS)
    assert machine.table(A).epoch == 2  # type: ignore[union-attr]


def test_a_forced_finish_goes_to_the_end_of_the_queue_at_once(machine: TieringMachine) -> None:
    """A big table goes on, but does not starve the others."""
    table_id, epoch = taken(machine)
    assert machine.finish(table_id, epoch, 6000, forced=True)
    assert [taken(machine) for _ in range(3)] == [(B, 1), (C, 1), (A, 2)]


def test_a_failed_round_is_queued_again_with_a_new_epoch(machine: TieringMachine) -> None:
    """And whoever failed it cannot speak for it any more."""
    table_id, epoch = taken(machine)
    assert machine.fail(table_id, epoch, 6000)
    assert state(machine) is TieringState.PENDING
    assert refusal(machine.finish, table_id, epoch, 6000) is ErrorCode.FENCED_TIERING_EPOCH
    assert [taken(machine) for _ in range(3)] == [(B, 1), (C, 1), (A, 2)]


def test_silence_of_two_minutes_fails_a_round(machine: TieringMachine) -> None:
    """Heartbeats put it off; the late service is fenced."""
    table_id, epoch = taken(machine, 6000)
    machine.renew(table_id, epoch, 100_000)
    assert machine.tick(100_000 + HEARTBEAT_TIMEOUT_MS - 1) == []
    assert machine.tick(100_000 + HEARTBEAT_TIMEOUT_MS) == [table_id]
    assert state(machine) is TieringState.PENDING
    assert refusal(machine.renew, table_id, epoch, 250_000) is ErrorCode.FENCED_TIERING_EPOCH


@pytest.mark.parametrize("report", ["renew", "finish", "fail"])
def test_reports_of_other_epochs_and_unknown_tables_are_refused(machine: TieringMachine, report: str) -> None:
    """50 and 7, and nothing changes."""
    table_id, epoch = taken(machine)
    call = getattr(machine, report)
    assert refusal(call, table_id, epoch - 1, 6000) is ErrorCode.FENCED_TIERING_EPOCH
    assert refusal(call, table_id, epoch + 1, 6000) is ErrorCode.FENCED_TIERING_EPOCH
    assert refusal(call, 99, epoch, 6000) is ErrorCode.TABLE_NOT_EXIST
    machine.remove(table_id)
    assert refusal(call, table_id, epoch, 6000) is ErrorCode.TABLE_NOT_EXIST


def test_reports_of_a_round_that_is_not_on(machine: TieringMachine) -> None:
    """A heartbeat is refused; finished or failed twice is nothing new."""
    machine.tick(6000)
    assert refusal(machine.renew, A, 1, 6000) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert not machine.finish(A, 1, 6000)
    assert not machine.fail(A, 1, 6000)
    assert state(machine) is TieringState.PENDING
    taken(machine)
    assert machine.finish(A, 1, 7000)
    assert not machine.finish(A, 1, 8000)
    assert machine.table(A).tiered_ms == 7000  # type: ignore[union-attr]


def test_a_removed_table_leaves_the_queue(machine: TieringMachine) -> None:
    """Its place goes to the next."""
    machine.tick(6000)
    machine.remove(A)
    assert taken(machine) == (B, 1)


def test_a_table_that_comes_back_has_a_later_epoch(machine: TieringMachine) -> None:
    """A round from before it was disabled cannot report on the one after."""
    table_id, epoch = taken(machine)
    machine.remove(table_id)
    machine.add(table_id, FRESHNESS_MS, 6000, 6000)
    assert refusal(machine.finish, table_id, epoch - 1, 6000) is ErrorCode.FENCED_TIERING_EPOCH
    machine.tick(6000 + FRESHNESS_MS)
    assert machine.table(table_id).epoch == epoch + 1  # type: ignore[union-attr]


def test_another_freshness_counts_at_once_for_a_table_that_waits(machine: TieringMachine) -> None:
    """Shorter or longer."""
    machine.set_freshness(A, 100)
    machine.set_freshness(B, 9_000_000)
    machine.tick(FRESHNESS_MS + 10)
    assert [state(machine, t) for t in (A, B, C)] == [
        TieringState.PENDING,
        TieringState.SCHEDULED,
        TieringState.PENDING,
    ]


def test_a_paused_table_is_not_given_out(machine: TieringMachine) -> None:
    """Whether it waited for its time or for a service; a round under way ends, also badly, and is the last."""
    taken(machine)  # A
    for table_id in (A, B, C):
        machine.set_paused(table_id, 6000, paused=True)
    assert machine.take(6000) is None
    assert machine.fail(A, 1, 7000)
    machine.tick(10**9)
    assert machine.take(10**9) is None
    assert machine.counts() == {TieringState.SCHEDULED: 3}


def test_a_resumed_table_is_due_when_its_freshness_is_used_up(machine: TieringMachine) -> None:
    """As if it had never been paused."""
    machine.set_paused(A, 0, paused=True)
    machine.tick(10_000)
    machine.set_paused(A, 10_000, paused=False)
    machine.tick(10_000)
    assert state(machine) is TieringState.PENDING


def test_a_requested_round_begins_at_once_even_when_paused(machine: TieringMachine) -> None:
    """And only that one."""
    machine.set_paused(A, 0, paused=True)
    machine.request(A, 10)
    table_id, epoch = taken(machine, 10)
    assert (table_id, epoch) == (A, 1)
    machine.finish(A, 1, 20)
    machine.tick(10**9)
    assert state(machine) is TieringState.SCHEDULED


def test_a_request_during_a_round_asks_for_another_one(machine: TieringMachine) -> None:
    """The one under way may have looked before the newest rows came."""
    taken(machine)
    machine.request(A, 6000)
    machine.finish(A, 1, 7000)
    assert state(machine) is TieringState.PENDING


def test_a_request_for_a_table_that_waits_already_changes_nothing(machine: TieringMachine) -> None:
    """No second place in the queue, no new epoch."""
    machine.tick(6000)
    machine.request(A, 6000)
    assert [taken(machine) for _ in range(3)] == [(A, 1), (B, 1), (C, 1)]
