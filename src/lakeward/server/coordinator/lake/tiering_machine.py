"""TieringMachine: timers, the queue, epochs and heartbeats of all lake tables. Pure: time is passed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.server.coordinator.lake.tiering_states import TieringEvent, TieringState, state_after

#: A round whose tiering service is silent for so long has failed.
HEARTBEAT_TIMEOUT_MS = 120_000


class Assignment(NamedTuple):
    """A table given to a tiering service; it names the epoch in whatever it reports of it."""

    table_id: int
    epoch: int


@dataclass(slots=True)
class TieredTable:
    """One lake table. `tiered_ms` is when its last round ended, or when it became a lake table."""

    table_id: int
    freshness_ms: int
    tiered_ms: int
    state: TieringState
    epoch: int = 0
    is_paused: bool = False
    is_requested: bool = False
    heartbeat_ms: int = 0
    failures: int = 0

    @property
    def due_ms(self) -> int:
        """When the next round should begin."""
        return self.tiered_ms + self.freshness_ms


class TieringMachine:
    """Who is to be tiered next, and who is being tiered."""

    def __init__(self) -> None:
        self._tables: dict[int, TieredTable] = {}
        #: A dict for its order: first in, first out, and out of the middle without a search.
        self._queue: dict[int, None] = {}
        #: Epochs of tables that left, so that a late report from before does not count after they are back.
        self._past_epochs: dict[int, int] = {}

    def __iter__(self) -> Iterator[TieredTable]:
        return iter(self._tables.values())

    def table(self, table_id: int) -> TieredTable | None:
        """A table as it is now."""
        return self._tables.get(table_id)

    def counts(self) -> Counter[TieringState]:
        """How many tables are in which state."""
        return Counter(table.state for table in self)

    # -- tables come, change and go

    def add(
        self, table_id: int, freshness_ms: int, tiered_ms: int, now_ms: int, *, restarted: bool = False
    ) -> TieredTable:
        """A lake table is there: a new one, or one from before a restart."""
        first = TieringState.INITIALIZED if restarted else TieringState.NEW
        table = TieredTable(table_id, freshness_ms, tiered_ms, first, self._past_epochs.pop(table_id, 0))
        self._tables[table_id] = table
        self._move(table, TieringEvent.ENROLL, now_ms)
        return table

    def remove(self, table_id: int, *, for_ever: bool = False) -> None:
        """A table is no lake table any more; `for_ever` when it can never be one again."""
        table = self._tables.pop(table_id, None)
        self._queue.pop(table_id, None)
        if table is not None and not for_ever:
            self._past_epochs[table_id] = table.epoch
        elif for_ever:
            self._past_epochs.pop(table_id, None)

    def set_freshness(self, table_id: int, freshness_ms: int) -> None:
        """Let a table obey another freshness; one that waits for its time waits for the new one."""
        self._tables[table_id].freshness_ms = freshness_ms

    def set_paused(self, table_id: int, now_ms: int, *, paused: bool) -> None:
        """Pause or resume a table. A round under way goes on; one that waits to begin does not begin."""
        table = self._tables[table_id]
        is_new = paused is not table.is_paused
        table.is_paused = paused
        if is_new and paused and table.state is TieringState.PENDING:
            self._move(table, TieringEvent.HOLD, now_ms)

    def request(self, table_id: int, now_ms: int) -> None:
        """Have a round begin at once, paused or not; after one that is under way, since that may miss the newest."""
        table = self._tables[table_id]
        match table.state:
            case TieringState.SCHEDULED:
                self._move(table, TieringEvent.DUE, now_ms)
            case TieringState.TIERING:
                table.is_requested = True
            case _:
                pass  # it waits for a tiering service already

    # -- time passes

    def tick(self, now_ms: int) -> list[int]:
        """Queue what is due, in the order of time; give up rounds without heartbeat and return their tables."""
        due = [t for t in self if t.state is TieringState.SCHEDULED and not t.is_paused and t.due_ms <= now_ms]
        for table in sorted(due, key=lambda t: (t.due_ms, t.table_id)):
            self._move(table, TieringEvent.DUE, now_ms)
        silent = [
            t for t in self if t.state is TieringState.TIERING and now_ms - t.heartbeat_ms >= HEARTBEAT_TIMEOUT_MS
        ]
        for table in silent:
            self._fail(table, now_ms)
        return [table.table_id for table in silent]

    # -- a tiering service speaks

    def take(self, now_ms: int) -> Assignment | None:
        """The table that has waited longest; it is being tiered from now on."""
        if not self._queue:
            return None
        table = self._tables[next(iter(self._queue))]
        self._move(table, TieringEvent.TAKE, now_ms)
        return Assignment(table.table_id, table.epoch)

    def renew(self, table_id: int, epoch: int, now_ms: int) -> None:
        """A tiering service still works on a table."""
        table = self._table_of_round(table_id, epoch)
        if table.state is not TieringState.TIERING:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Table {table_id} is not being tiered, it is {table.state}; there is no heartbeat to renew."
            )
        table.heartbeat_ms = now_ms

    def finish(self, table_id: int, epoch: int, now_ms: int, *, forced: bool = False) -> bool:
        """A round has ended well; `forced` when it stopped early and the next is to follow. False if none was on."""
        table = self._table_of_round(table_id, epoch)
        if not self._move(table, TieringEvent.FINISH, now_ms):
            return False
        table.tiered_ms = now_ms
        again = table.is_requested or (forced and not table.is_paused)
        table.is_requested = False
        self._move(table, TieringEvent.AGAIN if again else TieringEvent.REST, now_ms)
        return True

    def fail(self, table_id: int, epoch: int, now_ms: int) -> bool:
        """A round has failed; the table is queued again. False if none was on."""
        return self._fail(self._table_of_round(table_id, epoch), now_ms)

    def _fail(self, table: TieredTable, now_ms: int) -> bool:
        if not self._move(table, TieringEvent.FAIL, now_ms):
            return False
        table.failures += 1
        held = table.is_paused and not table.is_requested
        table.is_requested = False
        self._move(table, TieringEvent.HOLD if held else TieringEvent.AGAIN, now_ms)
        return True

    def _table_of_round(self, table_id: int, epoch: int) -> TieredTable:
        table = self._tables.get(table_id)
        if table is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"There is no lake table with id {table_id}; it was dropped, or it is not tiered."
            )
        if epoch != table.epoch:
            raise ErrorCode.FENCED_TIERING_EPOCH.error(
                f"The tiering epoch {epoch} of table {table_id} is not the current one, which is {table.epoch}."
                " Another round has begun since."
            )
        return table

    def _move(self, table: TieredTable, event: TieringEvent, now_ms: int) -> bool:
        state = state_after(table.state, event)
        if state is None:
            return False
        self._queue.pop(table.table_id, None)
        table.state = state
        if state is TieringState.PENDING:
            table.epoch += 1
            self._queue[table.table_id] = None
        elif state is TieringState.TIERING:
            table.heartbeat_ms = now_ms
        return True
