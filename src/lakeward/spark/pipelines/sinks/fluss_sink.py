"""FlussSink: rows into tables of a Fluss cluster.

Rows with a key are put and deleted by the tasks, which is idempotent: a batch that is repeated ends as it did. Rows
without one are staged by the tasks and appended by the driver, once for each batch id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.client.staged import StagedSink, StagedWriter
from lakeward.model.schema import Schema
from lakeward.pipelines.changes import to_upserts
from lakeward.pipelines.evolution import Evolution
from lakeward.pipelines.plan import TablePlan
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.spark.pipelines.sinks.fluss_tables import FlussTables
from lakeward.spark.pipelines.sinks.port import Part
from lakeward.spark.table.connections import connection
from lakeward.spark.write.overwrite import keys_there

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.blocking.sync_writers import Upserter

_SERVERS = "bootstrap.servers"


class FlussSink:
    """One cluster."""

    def __init__(self, options: Mapping[str, str], behavior: SchemaChanges, staging: str) -> None:
        """`staging` is a place that tasks and driver reach, and that outlives both."""
        self._options = dict(options)
        self._behavior = behavior
        self._staging = staging

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool = False) -> list[str]:
        """Make tables and check those that are there."""
        return self.tables().prepare(plans, makes=makes, has_begun=has_begun)

    def writer(self, batch_id: int) -> FlussWriter:
        """A writer for the rows of a task."""
        return FlussWriter(self._connect(), self.tables(), self._staging, batch_id)

    def commit(self, batch_id: int, parts: Sequence[Part]) -> None:
        """Append what tasks staged."""
        by_target: dict[str, list[bytes]] = {}
        for part in parts:
            by_target.setdefault(part.target, []).append(part.content)
        for target, contents in by_target.items():
            StagedSink(self._connect(), target, self._staging).commit(batch_id, contents)

    def tables(self) -> FlussTables:
        """What can be done to tables."""
        return FlussTables(self._connect(), self._options, self._behavior)

    def _connect(self) -> Connection:
        of_client = {key: value for key, value in self._options.items() if key.startswith("client.")}
        servers = {_SERVERS: self._options[_SERVERS]} if _SERVERS in self._options else {}
        return connection({**servers, **of_client}, expected=True)


class FlussWriter:
    """Rows of one task. Tables are opened when they are first written."""

    def __init__(self, conn: Connection, tables: FlussTables, staging: str, batch_id: int) -> None:
        self._conn = conn
        self._tables = tables
        self._staging = staging
        self._batch_id = batch_id
        self._opened: dict[str, Table | None] = {}
        self._upserters: dict[str, Upserter] = {}
        self._stagers: dict[str, StagedWriter] = {}
        self._parts: list[Part] = []

    def schema(self, plan: TablePlan) -> Schema | None:
        """As the server said when the table was first written here, or changed."""
        table = self._table(plan.target)
        return None if table is None else table.info.schema

    def write(self, plan: TablePlan, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """Put and delete by key, or stage."""
        table = self._table(plan.target)
        assert table is not None
        if not table.info.schema.primary_key:
            if plan.target not in self._stagers:
                self._stagers[plan.target] = StagedWriter(
                    self._conn, plan.target, staging=self._staging, batch_id=self._batch_id
                )
            self._stagers[plan.target].write(rows)
            return
        if plan.target not in self._upserters:
            self._upserters[plan.target] = table.upserter()
        changed, is_put = to_upserts(rows, kinds, table.info.schema.primary_key)
        if is_put is None:
            self._upserters[plan.target].upsert(changed)
        else:
            self._upserters[plan.target].change(changed, is_put)

    def evolve(self, plan: TablePlan, evolution: Evolution) -> None:
        """Flush what came before, then change the table."""
        self._close(plan.target)
        if evolution.is_made:
            self._tables.make(plan)
        if evolution.add:
            self._tables.add_columns(plan.target, Schema.of([(c.name, c.type) for c in evolution.add]))
        if evolution.is_emptied and (table := self._table(plan.target)) is not None:
            for keys in keys_there(self._conn, table.info, None):
                table.delete(keys)
        self._opened.pop(plan.target, None)

    def finish(self) -> list[Part]:
        """Flush everything."""
        for target in [*self._upserters, *self._stagers]:
            self._close(target)
        return self._parts

    def abort(self) -> None:
        """What was not flushed may or may not be there: the batch comes again."""
        for stager in self._stagers.values():
            stager.abort()

    def _close(self, target: str) -> None:
        if (upserter := self._upserters.pop(target, None)) is not None:
            upserter.flush()
            upserter.close()
        if (stager := self._stagers.pop(target, None)) is not None:
            self._parts.append(Part(target, stager.finish()))

    def _table(self, target: str) -> Table | None:
        if target not in self._opened:
            self._opened[target] = self._conn.table(target) if self._conn.has_table(target) else None
        return self._opened[target]
