"""Operations by seed, and a model of what they must have done: plain lists, nothing ever taken away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arrow_batches import ids_batch
from simulated_server import CHECKPOINT_MS, SimulatedServer
from wire_kv import WireKv
from wire_tables import WireTable, create_database

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.partition import DropPartitionRequest, PbPartitionSpec
from lakeward.protocol.messages.shared import PbKeyValue
from lakeward.records.key.bucketing import bucket_of
from lakeward.runtime.entropy import SeededEntropy

DATABASE = "sim"
_TABLES_MAX = 5
_KEYS = 12
Row = tuple[Any, ...]


class Step(NamedTuple):
    """One acknowledged write to a bucket: the rows, and the offset after them."""

    rows: tuple[Any, ...]
    end: int


@dataclass(eq=False)
class Bucket:
    """What was written to a bucket, in order."""

    steps: list[Step] = field(default_factory=list)
    #: How many of them a power cut must not take.
    durable: int = 0
    next_sequence: int = 0

    @property
    def end(self) -> int:
        """The offset after the last row."""
        return self.steps[-1].end if self.steps else 0


@dataclass(eq=False)
class Table:
    """A table that was created."""

    wire: WireTable
    keyed: WireKv | None
    bucket_count: int
    writer_id: int
    #: Partition id, or None where there are none → bucket number → what is in it.
    buckets: dict[int | None, list[Bucket]] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)

    @property
    def is_partitioned(self) -> bool:
        """Whether rows belong to partitions."""
        return None not in self.buckets


class View(NamedTuple):
    """What had been acknowledged at one moment."""

    tables: tuple[Table, ...]
    #: How many steps each bucket had, and how many of them were durable.
    counts: dict[Bucket, tuple[int, int]]
    #: Where the logs began that were open.
    starts: dict[TableBucket, int]
    writer_id: int


class Workload:
    """A server, and somebody who uses it."""

    def __init__(self, server: SimulatedServer, seed: int, *, is_flushed: bool = False) -> None:
        """`is_flushed`: the server syncs every row before it is acknowledged."""
        self._server = server
        self._chance = SeededEntropy(seed)
        self._is_flushed = is_flushed
        self._count = 0
        self.tables: list[Table] = []
        self.writer_id = -1
        self.told = ""
        create_database(server.cluster, DATABASE)
        self._choices: list[tuple[int, Callable[[], None]]] = [
            (4, self._create),
            (2, self._drop),
            (4, self._partition),
            (34, self._append),
            (30, self._put),
            (6, self._look),
            (6, self._threads),
            (8, self._moment),
            (4, self._settle),
            (2, self._age),
        ]

    def view(self) -> View:
        """Everything up to now."""
        counts = {
            bucket: (len(bucket.steps), bucket.durable)
            for table in self.tables
            for buckets in table.buckets.values()
            for bucket in buckets
        }
        starts = {bucket: log.start_offset for bucket, log in self._server.node.roles.tablets.logs.all()}
        return View(tuple(self.tables), counts, starts, self.writer_id)

    def step(self) -> None:
        """One operation."""
        draw = self._chance.below(sum(weight for weight, _ in self._choices))
        for weight, act in self._choices:
            draw -= weight
            if draw < 0:
                self.told = act.__name__
                act()
                return

    def _pick(self, of: list[Any]) -> Any:
        return of[self._chance.below(len(of))] if of else None

    # -- tables

    def _create(self) -> None:
        if len(self.tables) >= _TABLES_MAX:
            return
        self._count += 1
        name, buckets = f"t{self._count % 7}", 1 + self._chance.below(2)
        if any(table.wire.path.table_name == name for table in self.tables):
            return
        cluster, kind = self._server.cluster, self._chance.below(3)
        parts: dict[str, Any] = {"bucket_count": buckets}
        keyed = None
        if kind == 0:
            keyed = WireKv.create(cluster, DATABASE, name, **parts)
            wire = keyed.wire
        elif kind == 1:
            parts["properties"] = {"table.log.ttl": "4 min"}
            wire = WireTable.create(cluster, DATABASE, name, **parts)
        else:
            columns = (("id", "BIGINT"), ("p", "STRING"))
            wire = WireTable.create(cluster, DATABASE, name, *columns, partition_key=["p"], **parts)
        self.writer_id = max(self.writer_id, wire.new_writer())
        table = Table(wire, keyed, buckets, self.writer_id)
        if kind < 2:
            table.buckets[None] = [Bucket() for _ in range(buckets)]
        self.tables.append(table)

    def _drop(self) -> None:
        table = self._pick(self.tables)
        if table is not None:
            self.tables = [one for one in self.tables if one is not table]
            table.wire.drop()

    def _partition(self) -> None:
        table = self._pick([one for one in self.tables if one.is_partitioned])
        if table is None:
            return
        if len(table.partitions) < 3:
            self._count += 1
            name = f"p{self._count}"
            table.wire.create_partition(p=name)
            catalog = self._server.node.roles.catalog
            (found,) = [one for one in catalog.partitions_of(table.wire.table_id) if one.name == name]
            table.partitions[name] = found.partition_id
            table.buckets[found.partition_id] = [Bucket() for _ in range(table.bucket_count)]
        else:
            name = self._pick(sorted(table.partitions))
            del table.buckets[table.partitions.pop(name)]
            spec = PbPartitionSpec(partition_key_values=(PbKeyValue(key="p", value=name),))
            request = DropPartitionRequest(table_path=table.wire.path, partition_spec=spec, ignore_if_not_exists=False)
            self._server.cluster.coordinator.call(Api.DROP_PARTITION, request)

    # -- rows

    def _place(self, *, keyed: bool) -> tuple[Table, int | None, int] | None:
        table = self._pick([one for one in self.tables if (one.keyed is not None) == keyed and one.buckets])
        if table is None:
            return None
        return table, self._pick(list(table.buckets)), self._chance.below(table.bucket_count)

    def _append(self) -> None:
        place = self._place(keyed=False)
        if place is None:
            return self._create()
        table, partition, number = place
        bucket = table.buckets[partition][number]
        ids = tuple(self._count * 100 + i for i in range(1 + self._chance.below(5)))
        self._count += 1
        sequence, bucket.next_sequence = bucket.next_sequence, bucket.next_sequence + 1
        batch = _batch(table, partition, ids, sequence)
        base = table.wire.append(batch, bucket=number, partition=partition)
        assert base == bucket.end, f"{base} instead of {bucket.end}"
        self._acknowledge(bucket, Step(ids, base + len(ids)))
        return None

    def _put(self) -> None:
        place = self._place(keyed=True)
        if place is None:
            return self._create()
        table, _, number = place
        assert table.keyed is not None
        bucket = table.buckets[None][number]
        count = table.bucket_count
        keys = [key for key in range(_KEYS) if bucket_of(table.keyed.key(key), count, None) == number]
        chosen = {self._pick(keys) for _ in range(1 + self._chance.below(4))}
        self._count += 1
        rows: tuple[Row, ...] = tuple(
            (key, f"row {self._count}", self._count) if self._chance.below(4) else (key,) for key in sorted(chosen)
        )
        sequence, bucket.next_sequence = bucket.next_sequence, bucket.next_sequence + 1
        batch = table.keyed.batch(rows, writer_id=table.writer_id, sequence=sequence)
        answer = table.keyed.put(batch, bucket=number)
        assert not answer.error_code, answer
        self._acknowledge(bucket, Step(rows, answer.log_end_offset))
        return None

    def _acknowledge(self, bucket: Bucket, step: Step) -> None:
        bucket.steps.append(step)
        if self._is_flushed:
            bucket.durable = len(bucket.steps)

    def _look(self) -> None:
        """Read while all goes well: what was written is there."""
        place = self._place(keyed=True)
        if place is not None:
            table, _, number = place
            assert table.keyed is not None
            assert table.keyed.state(bucket=number) == state_after(table.buckets[None][number].steps)

    # -- time

    def _threads(self) -> None:
        for _ in range(1 + self._chance.below(4)):
            self._server.loop.step_threads()
            self._server.loop.turn()

    def _moment(self) -> None:
        self._server.loop.advance(self._chance.below(20_000), settle=bool(self._chance.below(2)))

    def _settle(self) -> None:
        """A checkpoint later, with all work on disk done: nothing of before may be lost."""
        self._server.loop.advance(CHECKPOINT_MS + 1000, settle=True)
        for table in self.tables:
            for buckets in table.buckets.values():
                for bucket in buckets:
                    bucket.durable = len(bucket.steps)

    def _age(self) -> None:
        self._server.loop.advance(5 * 60_000, settle=bool(self._chance.below(2)))


def _batch(table: Table, partition: int | None, ids: tuple[int, ...], sequence: int) -> bytearray:
    if partition is None:
        return ids_batch(ids, writer_id=table.writer_id, sequence=sequence)
    import pyarrow as pa
    from arrow_batches import arrow_batch

    name = next(name for name, found in table.partitions.items() if found == partition)
    rows = pa.record_batch({"id": pa.array(ids, pa.int64()), "p": pa.array([name] * len(ids))})
    return arrow_batch(rows, writer_id=table.writer_id, sequence=sequence)


def state_after(steps: list[Step]) -> dict[Any, Row]:
    """The rows by key after some puts."""
    state: dict[Any, Row] = {}
    for step in steps:
        for row in step.rows:
            if len(row) > 1:
                state[row[0]] = row
            else:
                state.pop(row[0], None)
    return state
