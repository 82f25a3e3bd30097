"""LakeTiering: the machine applied to the catalog. Tables come, change and go; tiering services report."""

from __future__ import annotations

import enum
import logging
from collections import Counter
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.options import table as table_options
from lakeward.options.tiering import PAUSED, REQUESTED_MS
from lakeward.runtime.clock import Clock
from lakeward.server.books.lake_snapshots import LakeSnapshots
from lakeward.server.catalog import events
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.lake_settings import is_lake_table
from lakeward.server.coordinator.lake.tiering_machine import HEARTBEAT_TIMEOUT_MS, TieringMachine

_log = logging.getLogger(__name__)


class Outcome(enum.StrEnum):
    """How a round ended."""

    FINISHED = "finished"
    FORCED = "forced"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Report(NamedTuple):
    """What a tiering service says of a table: the epochs tell whether it may still speak of it."""

    table_id: int
    coordinator_epoch: int
    tiering_epoch: int


class LakeTiering:
    """Gives tables to tiering services when their freshness is used up, and takes their reports."""

    def __init__(self, catalog: Catalog, snapshots: LakeSnapshots, clock: Clock, coordinator_epoch: int) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.machine = TieringMachine()
        self.outcomes: Counter[Outcome] = Counter()
        self._catalog = catalog
        self._snapshots = snapshots
        self._clock = clock
        self._started_ms = clock.now_ms()
        self._started_s = clock.monotonic()
        snapshots.forget_all_but({table.table_id for table in catalog.tables()})
        for table in catalog.tables():
            if is_lake_table(table.descriptor):
                self._restore(table)
        catalog.subscribe(self._on_event)

    def now_ms(self) -> int:
        """The time by which rounds are measured; a clock that is set neither ends nor begins one."""
        return self._started_ms + int((self._clock.monotonic() - self._started_s) * 1000)

    def tick(self) -> None:
        """Queue what is due, give up what is silent."""
        for table_id in self.machine.tick(self.now_ms()):
            self.outcomes[Outcome.TIMED_OUT] += 1
            _log.warning(
                "table %s: its tiering service has been silent for %d s; the table is queued for another",
                self._name(table_id),
                HEARTBEAT_TIMEOUT_MS // 1000,
            )

    # -- what tiering services say

    def fail(self, report: Report) -> None:
        """A round has failed."""
        self._check_epoch(report)
        if self.machine.fail(report.table_id, report.tiering_epoch, self.now_ms()):
            self.outcomes[Outcome.FAILED] += 1
            _log.warning("table %s: a round of tiering has failed", self._name(report.table_id))

    def renew(self, report: Report) -> None:
        """A round goes on."""
        self._check_epoch(report)
        self.machine.renew(report.table_id, report.tiering_epoch, self.now_ms())

    def finish(self, report: Report, *, forced: bool) -> None:
        """A round is done."""
        self._check_epoch(report)
        if self.machine.finish(report.table_id, report.tiering_epoch, self.now_ms(), forced=forced):
            self.outcomes[Outcome.FORCED if forced else Outcome.FINISHED] += 1

    def take(self) -> tuple[TableInfo, int] | None:
        """The table whose turn it is, and its epoch."""
        self.tick()
        assignment = self.machine.take(self.now_ms())
        if assignment is None:
            return None
        table = self._catalog.table_by_id(assignment.table_id)
        assert table is not None
        return table, assignment.epoch

    def _check_epoch(self, report: Report) -> None:
        if report.coordinator_epoch != self.coordinator_epoch:
            raise ErrorCode.INVALID_COORDINATOR.error(
                f"The coordinator epoch {report.coordinator_epoch} is not the current one, which is"
                f" {self.coordinator_epoch}. The server was started again since."
            )

    # -- what happens to tables

    def _restore(self, table: TableInfo) -> None:
        latest = self._snapshots.latest(table)
        tiered_ms = min(table.created_ms if latest is None else latest.committed_ms, self._started_ms)
        self._add(table, tiered_ms, restarted=True)
        requested_ms = REQUESTED_MS.read(table.descriptor.custom_properties)
        if requested_ms is not None and requested_ms > tiered_ms:
            self.machine.request(table.table_id, self.now_ms())

    def _add(self, table: TableInfo, tiered_ms: int, *, restarted: bool = False) -> None:
        now_ms = self.now_ms()
        self.machine.add(table.table_id, _freshness_ms(table), tiered_ms, now_ms, restarted=restarted)
        self.machine.set_paused(table.table_id, now_ms, paused=_is_paused(table))

    def _on_event(self, event: events.Event) -> None:
        match event:
            case events.TableCreated() if is_lake_table(event.table.descriptor):
                self._add(event.table, self.now_ms())
            case events.TableAltered():
                self._on_alter(event.before, event.table)
            case events.TableDropped():
                self.machine.remove(event.table.table_id, for_ever=True)
                self._snapshots.forget(event.table)
            case _:
                pass

    def _on_alter(self, before: TableInfo, table: TableInfo) -> None:
        was, is_ = is_lake_table(before.descriptor), is_lake_table(table.descriptor)
        if not is_:
            self.machine.remove(table.table_id)
            return
        if not was:
            self._add(table, self.now_ms())
        self.machine.set_freshness(table.table_id, _freshness_ms(table))
        self.machine.set_paused(table.table_id, self.now_ms(), paused=_is_paused(table))
        asked_before = REQUESTED_MS.read(before.descriptor.custom_properties)
        asked = REQUESTED_MS.read(table.descriptor.custom_properties)
        if asked is not None and asked != asked_before:
            self.machine.request(table.table_id, self.now_ms())

    def _name(self, table_id: int) -> str:
        table = self._catalog.table_by_id(table_id)
        return str(table_id) if table is None else str(table.path)


def _freshness_ms(table: TableInfo) -> int:
    return table_options.LAKE_FRESHNESS.read(table.descriptor.properties)


def _is_paused(table: TableInfo) -> bool:
    return PAUSED.read(table.descriptor.custom_properties)
