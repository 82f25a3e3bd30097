"""The states of a lake table and what leads from one to the next."""

from __future__ import annotations

import itertools

from lakeward.server.coordinator.lake.tiering_states import TRANSITIONS, TieringEvent, TieringState, state_after

#: As the coordinator of Apache Fluss has them: a state and those it can be entered from.
APACHE = {
    TieringState.SCHEDULED: {TieringState.NEW, TieringState.INITIALIZED, TieringState.TIERED},
    TieringState.PENDING: {TieringState.SCHEDULED, TieringState.FAILED, TieringState.TIERED},
    TieringState.TIERING: {TieringState.PENDING},
    TieringState.TIERED: {TieringState.TIERING},
    TieringState.FAILED: {TieringState.TIERING},
}


def test_the_ways_between_states_are_those_of_apache_fluss_and_hold() -> None:
    """Every way there is here, none more but for that of a pause."""
    ways = {(before, after) for (before, event), after in TRANSITIONS.items() if event is not TieringEvent.HOLD}
    assert ways == {(before, after) for after, befores in APACHE.items() for before in befores}


def test_whatever_else_happens_changes_nothing() -> None:
    """A state in which an event cannot happen has no next one."""
    for state, event in itertools.product(TieringState, TieringEvent):
        assert (state_after(state, event) is not None) == ((state, event) in TRANSITIONS)


def test_nothing_leads_back_to_the_first_states() -> None:
    """A table is new once, and restored once."""
    assert not {TieringState.NEW, TieringState.INITIALIZED} & set(TRANSITIONS.values())
