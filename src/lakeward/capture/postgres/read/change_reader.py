"""ChangeReader: bulks of messages → events, in the order of commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakeward.capture.port import Event, SchemaChange, SchemaChangeKind, SourceTable, TableId, TableRows
from lakeward.capture.postgres.decode.columns import ColumnReader
from lakeward.capture.postgres.decode.message_kernels import HEAD_BYTES, KIND, RELATION, TIME
from lakeward.capture.postgres.decode.messages import Relation, committed_ms, read_relation, read_truncate
from lakeward.capture.postgres.read.relation_rows import complete, relation_rows
from lakeward.capture.postgres.read.schema_changes import resolve
from lakeward.capture.postgres.server.catalog import Catalog
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.replication import Bulk
from lakeward.records.kernels.spans import I64

_ROWS = tuple(ord(letter) for letter in "IUD")
_RELATION, _TRUNCATE = ord("R"), ord("T")


class ChangeReader:
    """What one call of `changes` hands out. Relations are told once a connection, so they outlive the call."""

    def __init__(
        self, session: Session, catalog: Catalog, known: Sequence[SourceTable], relations: dict[int, Relation]
    ) -> None:
        self._session, self._catalog, self._relations = session, catalog, relations
        self._known = {table.id: table for table in known}
        self._tables: dict[int, SourceTable | None] = {}
        self._columns = ColumnReader(session.settings.nulls_odd)
        self._done = self._skipped = 0
        self.has_begun = False

    def begin_again(self) -> None:
        """The range will be read from its start; what was handed out of it is passed over."""
        self._skipped, self.has_begun = self._done, False

    def events(self, bulk: Bulk) -> Iterator[Event]:
        """The events of a bulk: rows of a table together where nothing happened to a table in between."""
        self.has_begun = True
        bulk = self._without_done(bulk)
        kinds = bulk.found[:, KIND]
        breaks = np.flatnonzero((kinds == _RELATION) | (kinds == _TRUNCATE)).tolist()
        start = 0
        for place in [*breaks, len(kinds)]:
            yield from self._rows(bulk, start, place)
            if place < len(kinds):
                yield from self._mark(bulk, place)
            start = place + 1

    def _without_done(self, bulk: Bulk) -> Bulk:
        changing = np.flatnonzero(np.isin(bulk.found[:, KIND], (*_ROWS, _TRUNCATE)))
        passed = min(self._skipped, len(changing))
        self._skipped -= passed
        self._done += len(changing) - passed
        if not passed:
            return bulk
        found = bulk.found.copy()
        found[changing[:passed], KIND] = 0
        return replace(bulk, found=found)

    def _mark(self, bulk: Bulk, place: int) -> Iterator[Event]:
        message = bulk.message(place, HEAD_BYTES)
        if bulk.found[place, KIND] == _RELATION:
            relation = read_relation(message)
            self._relations[relation.oid] = relation
            self._tables.pop(relation.oid, None)
            return
        for oid in read_truncate(message):
            table, change = self._table(oid)
            if change is not None:
                yield change
            if table is not None:
                yield SchemaChange(SchemaChangeKind.TRUNCATE, table.id, table, table)

    def _rows(self, bulk: Bulk, start: int, end: int) -> Iterator[Event]:
        chosen = np.flatnonzero(np.isin(bulk.found[start:end, KIND], _ROWS)) + start
        if not len(chosen):
            return
        relations = bulk.found[chosen, RELATION]
        oids, first = np.unique(relations, return_index=True)
        for oid in oids[np.argsort(first)].tolist():
            table, change = self._table(oid)
            if change is not None:
                yield change
            if table is not None:
                yield self._table_rows(bulk, chosen[relations == oid], table)

    def _table_rows(self, bulk: Bulk, chosen: I64, table: SourceTable) -> TableRows:
        rows = complete(relation_rows(bulk, chosen, table), table, self._session, self._catalog)
        batch = self._columns.batch(table, rows.cells)
        last_ms = committed_ms(int(bulk.found[chosen[-1], TIME]))
        return TableRows(table, batch, pa.array(rows.kinds), last_ms)

    def _table(self, oid: int) -> tuple[SourceTable | None, SchemaChange | None]:
        """The table of a relation, None if nobody asked for it; a change when it is met for the first time."""
        if oid in self._tables:
            return self._tables[oid], None
        relation = self._relations[oid]
        id_ = TableId(relation.space, relation.name)
        if not self._session.settings.is_captured(id_):
            self._tables[oid] = None
            return None, None
        resolved = resolve(relation, self._known.get(id_), self._catalog)
        self._tables[oid] = self._known[id_] = resolved.table
        return resolved.table, resolved.change
