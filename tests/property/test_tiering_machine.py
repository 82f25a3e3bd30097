"""Whatever tiering services say and whenever they say it: no table is given to two at once, none is forgotten."""

from __future__ import annotations

from typing import Any

from examples import EXAMPLES
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.coordinator.lake.tiering_machine import HEARTBEAT_TIMEOUT_MS, TieringMachine
from lakeward.server.coordinator.lake.tiering_states import TieringState

IDS = st.integers(0, 3)
FRESHNESS_MS = 60_000
FENCES = {ErrorCode.FENCED_TIERING_EPOCH, ErrorCode.TABLE_NOT_EXIST, ErrorCode.UNKNOWN_SERVER_ERROR}


class Services(RuleBasedStateMachine):
    """Tiering services that take tables, forget them, and report in any order."""

    @initialize()
    def begin(self) -> None:
        """Nothing is there."""
        self.machine = TieringMachine()
        self.now_ms = 0
        #: What the holder of each table was given, and when it last spoke.
        self.held: dict[int, tuple[int, int]] = {}
        self.epochs: dict[int, int] = {}
        self.old: list[tuple[int, int]] = []

    @rule(table_id=IDS)
    def enable(self, table_id: int) -> None:
        """A table becomes a lake table."""
        if self.machine.table(table_id) is None:
            self.machine.add(table_id, FRESHNESS_MS, self.now_ms, self.now_ms)

    @rule(table_id=IDS)
    def disable(self, table_id: int) -> None:
        """A table is one no more."""
        self.machine.remove(table_id)
        self._lose(table_id)

    @rule(table_id=IDS, paused=st.booleans())
    def pause(self, table_id: int, paused: bool) -> None:
        """A table is paused or resumed."""
        if self.machine.table(table_id) is not None:
            self.machine.set_paused(table_id, self.now_ms, paused=paused)

    @rule(table_id=IDS)
    def request(self, table_id: int) -> None:
        """Somebody wants a round now."""
        if self.machine.table(table_id) is not None:
            self.machine.request(table_id, self.now_ms)

    @rule(ms=st.sampled_from([1, FRESHNESS_MS // 2, FRESHNESS_MS, HEARTBEAT_TIMEOUT_MS]))
    def wait(self, ms: int) -> None:
        """Time passes; whoever was silent too long has lost its table."""
        self.now_ms += ms
        lost = {t for t, (_, spoke_ms) in self.held.items() if self.now_ms - spoke_ms >= HEARTBEAT_TIMEOUT_MS}
        assert set(self.machine.tick(self.now_ms)) == lost
        for table_id in lost:
            self._lose(table_id)

    @rule()
    def take(self) -> None:
        """A service asks for a table: one that nobody has, with an epoch that nobody had."""
        found = self.machine.take(self.now_ms)
        if found is None:
            assert TieringState.PENDING not in self.machine.counts()
            return
        assert found.table_id not in self.held
        assert found.epoch > self.epochs.get(found.table_id, 0)
        self.epochs[found.table_id] = found.epoch
        self.held[found.table_id] = (found.epoch, self.now_ms)

    @rule(table_id=IDS, what=st.sampled_from(["renew", "finish", "fail"]), forced=st.booleans())
    def report(self, table_id: int, what: str, forced: bool) -> None:
        """The holder of a table speaks, and is heard."""
        if table_id not in self.held:
            return
        epoch, _ = self.held[table_id]
        more: dict[str, Any] = {"forced": forced} if what == "finish" else {}
        assert getattr(self.machine, what)(table_id, epoch, self.now_ms, **more) is not False
        if what == "renew":
            self.held[table_id] = (epoch, self.now_ms)
        else:
            self._lose(table_id)

    @rule(data=st.data(), what=st.sampled_from(["renew", "finish", "fail"]))
    def report_late(self, data: st.DataObject, what: str) -> None:
        """Somebody who has lost its table speaks, and changes nothing."""
        if not self.old:
            return
        table_id, epoch = data.draw(st.sampled_from(self.old))
        before = self.machine.table(table_id)
        state = None if before is None else before.state
        try:
            heard = getattr(self.machine, what)(table_id, epoch, self.now_ms)
        except LakewardError as wrong:
            heard = wrong.code not in FENCES
        assert not heard
        after = self.machine.table(table_id)
        assert (None if after is None else after.state) == state

    def _lose(self, table_id: int) -> None:
        if table_id in self.held:
            self.old.append((table_id, self.held.pop(table_id)[0]))

    @invariant()
    def those_being_tiered_are_held(self) -> None:
        """The machine and the services agree on who has what."""
        machine = getattr(self, "machine", None)
        if machine is not None:
            assert {t.table_id for t in machine if t.state is TieringState.TIERING} == set(self.held)
            resting = {TieringState.SCHEDULED, TieringState.PENDING, TieringState.TIERING}
            assert all(t.state in resting for t in machine)


TestServices = Services.TestCase
TestServices.settings = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)
