"""A workload that is cut off at every write: what the next server must find on what is left."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
from arrow_batches import read_batch
from simulated_server import SimulatedServer
from wire_kv import WireKv, play
from wire_tables import EARLIEST, LATEST, WireTable
from workload import Bucket, Step, Table, View, Workload, state_after

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.records.batch.log_batch import walk_batches
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.memory_files import Change, MemoryFiles

_IDS = pa.schema([("id", pa.int64())])
_IDS_AND_PARTITION = pa.schema([("id", pa.int64()), ("p", pa.string())])
KILL, POWER_CUT = "kill", "power cut"


class CrashPoint(NamedTuple):
    """The world right before a change."""

    number: int
    change: Change
    files: MemoryFiles
    now_ms: int


@dataclass
class Campaign:
    """One seed: a workload, and a crash at each change that is not left out."""

    seed: int
    operations: int
    #: Of so many crash points one is run.
    every: int = 1
    is_flushed: bool = False
    ran: Counter[str] = field(default_factory=Counter)
    changes: int = 0
    #: What was changed, as far as it is the same every time.
    history: list[tuple[str, str, int]] = field(default_factory=list)

    def run(self) -> None:
        """Run all of it; what is found is an AssertionError that names seed, operation and change."""
        clock = ManualClock()
        files = MemoryFiles(clock.now_ms)
        options = {"log.flush.interval-messages": "1"} if self.is_flushed else {}
        points: list[CrashPoint] = []

        def watch(change: Change) -> None:
            if change.what == "time":
                return
            self.changes += 1
            self.history.append((change.what, str(change.path), len(change.data)))
            if (self.changes + self.seed) % self.every == 0:
                points.append(CrashPoint(self.changes, change, files.copy(), clock.now_ms()))

        files.watch = watch
        server = SimulatedServer(files, clock, self.seed, **options)
        workload = Workload(server, self.seed, is_flushed=self.is_flushed)
        points.clear()
        for number in range(self.operations):
            before = workload.view()
            workload.step()
            after = workload.view()
            for point in points:
                for kind in (KILL, POWER_CUT):
                    self._crash(point, kind, Between(before, after), f"operation {number} ({workload.told})", options)
            points.clear()
        server.stop()

    def _crash(self, point: CrashPoint, kind: str, known: Between, where: str, options: dict[str, str]) -> None:
        chance = SeededEntropy(self.seed * 1_000_003 + point.number)
        left = point.files.after_kill(point.change, chance) if kind == KILL else point.files.after_power_cut(chance)
        clock = ManualClock(point.now_ms + chance.below(10_000))
        left.now_ms = clock.now_ms
        told = (
            f"seed {self.seed}, {where}, {kind} before change {point.number}: {point.change.what} {point.change.path}"
        )
        try:
            self._restart(left, clock, known, kind, options)
            if point.number % 3 == 0:  # and once more, after the first one ended in peace
                self._restart(left, clock, known, kind, options)
        except Exception as wrong:
            raise AssertionError(f"{told}: {wrong!r}") from wrong
        self.ran[kind] += 1

    def _restart(
        self, left: MemoryFiles, clock: ManualClock, known: Between, kind: str, options: dict[str, str]
    ) -> None:
        server = SimulatedServer(left, clock, self.seed + 1, **options)
        try:
            Restart(server, known, kind).check()
        except BaseException:
            server.kill()
            raise
        server.stop()
        gc.unfreeze()  # a server settles the heap when it has loaded; this process has had many servers


class Between(NamedTuple):
    """What was acknowledged before the operation that was cut off, and what would have been after it."""

    before: View
    after: View


class Restart:
    """A server that came up after a crash, and what it must know."""

    def __init__(self, server: SimulatedServer, known: Between, kind: str) -> None:
        self._server = server
        self._known = known
        self._kind = kind

    def check(self) -> None:
        """Every acknowledged change is there once, in order; state is the changelog folded; the server goes on."""
        before, after = self._known
        catalog = self._server.node.roles.catalog
        there = {path.table: path for path in (info.path for info in catalog.tables()) if path.database == "sim"}
        allowed = {table.wire.path.table_name for table in (*before.tables, *after.tables)}
        # A create that is under way is in neither view until it is acknowledged, so one unknown table may be there.
        assert len(set(there) - allowed) <= 1, f"tables from nowhere: {set(there) - allowed}"
        for table in before.tables:
            path = TablePath(table.wire.path.database_name, table.wire.path.table_name)
            info = catalog.table_by_path(path)
            if table in after.tables:
                assert info is not None, f"{path} is gone"
                assert info.table_id == table.wire.table_id, f"{path} is another table"
            if info is not None and info.table_id == table.wire.table_id:
                self._check_table(table)
        self._check_writer_ids(before)
        for _, log in self._server.node.roles.tablets.logs.all():
            assert not list(log.damages), f"{log.name}: {[damage.describe(log.name) for damage in log.damages]}"

    def _check_table(self, table: Table) -> None:
        wire = WireTable(self._server.cluster, table.wire.path, table.wire.table_id)
        catalog = self._server.node.roles.catalog
        for partition, buckets in list(table.buckets.items()):
            if partition is not None and catalog.partition_by_id(partition) is None:
                assert buckets[0] not in self._known.before.counts, f"partition {partition} is gone"
                continue
            for number, bucket in enumerate(buckets):
                if bucket in self._known.before.counts:
                    self._check_bucket(table, wire, partition, number, bucket)

    def _check_bucket(self, table: Table, wire: WireTable, partition: int | None, number: int, bucket: Bucket) -> None:
        count, durable = self._known.before.counts[bucket]
        least = count if self._kind == KILL else durable
        place = TableBucket(table.wire.table_id, partition, number)
        end = wire.offset(LATEST, bucket=number, partition=partition)
        start = wire.offset(EARLIEST, bucket=number, partition=partition)
        ends = [0, *(step.end for step in bucket.steps)]
        assert end in ends, f"{place} ends at {end}, in the middle of {ends}"
        found = ends.index(end)
        assert least <= found, f"{place} has {found} of {least} writes that were promised, and ends at {end}"
        latest_start = self._known.after.starts.get(place, 0)
        assert start <= latest_start, f"{place} begins at {start}, behind {latest_start}"
        steps = bucket.steps[:found]
        if table.keyed is None:
            self._check_rows(wire, partition, number, steps, start)
        else:
            keyed = WireKv(wire)
            want = state_after(steps)
            assert keyed.state(bucket=number) == want, f"the state of {place} is not what was put"
            folded: dict[Any, Any] = {}
            if start == 0:
                play(keyed.changelog(bucket=number), folded)
                assert folded == want, f"the changelog of {place} folds to something else"

    def _check_rows(self, wire: WireTable, partition: int | None, number: int, steps: list[Step], start: int) -> None:
        schema = _IDS if partition is None else _IDS_AND_PARTITION
        want = {step.end - len(step.rows): step.rows for step in steps if step.end > start}
        assert dict(_rows(wire, partition, number, start, schema)) == want

    def _check_writer_ids(self, before: View) -> None:
        if before.tables:
            table = before.tables[0].wire
            found = WireTable(self._server.cluster, table.path, table.table_id).new_writer()
            assert found > before.writer_id, f"writer {found} was given out before"


def _rows(
    wire: WireTable, partition: int | None, number: int, start: int, schema: pa.Schema
) -> Iterator[tuple[int, tuple[int, ...]]]:
    end = wire.offset(LATEST, bucket=number, partition=partition)
    while start < end:
        answer = wire.fetch(start, bucket=number, partition=partition)
        records = answer.records
        assert records is not None, f"from {start} to {end}: {answer}"
        for span in walk_batches(records):
            ids = read_batch(bytes(records[span.start : span.end]), schema)["id"].to_pylist()
            yield span.header.base_offset, tuple(ids)
            start = span.header.last_offset + 1
