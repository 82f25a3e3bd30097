"""A model of a database: tables, and a log of commits. Exact and deterministic; positions count commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from lakeward.capture.port import (
    ChangeKind,
    Chunk,
    Event,
    Position,
    SchemaChange,
    SchemaChangeKind,
    SourceTable,
    TableId,
    TableRows,
)
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

Row = dict[str, Any]


@dataclass
class ModelDatabase:
    """Rows by table and key; every commit is one change, or one change of a schema."""

    is_bounded_log: bool = False
    log: list[tuple[TableId, SourceTable | None, list[tuple[ChangeKind, Row]] | SchemaChange]] = field(
        default_factory=list
    )
    rows: dict[TableId, dict[tuple[Any, ...], Row]] = field(default_factory=dict)
    schemas: dict[TableId, SourceTable] = field(default_factory=dict)
    released: int = 0
    #: Called before a chunk's log is looked at: what others commit meanwhile.
    meanwhile: Any = None

    # What people do with it.

    def create(self, table: SourceTable) -> None:
        """CREATE TABLE."""
        self.schemas[table.id], self.rows[table.id] = table, {}
        self.log.append((table.id, None, SchemaChange(SchemaChangeKind.CREATE, table.id, None, table)))

    def drop_table(self, id_: TableId) -> None:
        """DROP TABLE."""
        del self.rows[id_]
        self.log.append((id_, None, SchemaChange(SchemaChangeKind.DROP, id_, self.schemas.pop(id_))))

    def alter(self, table: SourceTable) -> None:
        """ALTER TABLE: columns that are new are NULL, others keep their values."""
        before, self.schemas[table.id] = self.schemas[table.id], table
        for row in self.rows[table.id].values():
            values = {name: row.get(name) for name in table.schema.names}
            row.clear()
            row.update(values)
        self.log.append((table.id, None, SchemaChange(SchemaChangeKind.ALTER, table.id, before, table)))

    def put(self, id_: TableId, row: Row) -> None:
        """INSERT, or UPDATE of the row that has the key."""
        key = self._key(id_, row)
        before = self.rows[id_].get(key)
        changes = [(ChangeKind.INSERT, row)]
        if before is not None:
            changes = [(ChangeKind.UPDATE_BEFORE, before), (ChangeKind.UPDATE_AFTER, row)]
        self.rows[id_][key] = dict(row)
        self._commit(id_, changes)

    def move(self, id_: TableId, key: tuple[Any, ...], row: Row) -> None:
        """UPDATE that may change the key."""
        before = self.rows[id_].pop(key)
        assert self._key(id_, row) not in self.rows[id_]
        self.rows[id_][self._key(id_, row)] = dict(row)
        self._commit(id_, [(ChangeKind.UPDATE_BEFORE, before), (ChangeKind.UPDATE_AFTER, row)])

    def delete(self, id_: TableId, key: tuple[Any, ...]) -> None:
        """DELETE."""
        self._commit(id_, [(ChangeKind.DELETE, self.rows[id_].pop(key))])

    def _commit(self, id_: TableId, changes: list[tuple[ChangeKind, Row]]) -> None:
        self.log.append((id_, self.schemas[id_], [(kind, dict(row)) for kind, row in changes]))

    def _key(self, id_: TableId, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.schemas[id_].schema.primary_key)

    # What captures ask of it.

    def tables(self) -> Sequence[SourceTable]:
        """All tables."""
        return list(self.schemas.values())

    def check(self) -> None:
        """All is well."""

    def begin(self) -> Position:
        """Now."""
        return self.now()

    def now(self) -> Position:
        """The end of the log."""
        return {"n": len(self.log)}

    def limit(self, start: Position, end: Position, rows: int) -> Position:
        """So many commits on."""
        return {"n": min(end["n"], start["n"] + rows)}

    def chunks(self, table: SourceTable, rows: int) -> Sequence[Chunk]:
        """Cuts at every so many keys."""
        keys = sorted(self.rows[table.id])
        cuts = [None, *keys[rows::rows], None]
        return [Chunk(n, cuts[n], cuts[n + 1]) for n in range(len(cuts) - 1)]

    def read_chunk(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """Rows as they are now, put back by what the log says was before."""
        if table.id not in self.rows:
            return  # dropped since: the changes say so
        now = {key: dict(row) for key, row in self.rows[table.id].items() if _is_in(chunk, key)}
        if self.meanwhile is not None:
            self.meanwhile()
        if as_of is not None:
            self._check_held(as_of)
        for id_, _, change in reversed([] if as_of is None else self.log[as_of["n"] :]):
            if id_ == table.id and not isinstance(change, SchemaChange):
                self._undo(id_, change, chunk, now)
        yield _batch(table.schema, [now[key] for key in sorted(now)])

    def _undo(self, id_: TableId, change: list[tuple[ChangeKind, Row]], chunk: Chunk, now: dict[Any, Row]) -> None:
        for kind, row in reversed(change):
            key = self._key(id_, row)
            if kind in (ChangeKind.INSERT, ChangeKind.UPDATE_AFTER):
                now.pop(key, None)
            elif _is_in(chunk, key):
                now[key] = row

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """The log between the two."""
        self._check_held(start)
        for _, table, change in islice(self.log, start["n"], end["n"]):
            if isinstance(change, SchemaChange):
                yield change
            else:
                assert table is not None
                kinds = pa.array([kind.value for kind, _ in change], pa.uint8())
                yield TableRows(table, _batch(table.schema, [row for _, row in change]), kinds, 0)

    def is_after(self, one: Position, other: Position) -> bool:
        """Whether it counts more commits."""
        return bool(one["n"] > other["n"])

    def release(self, position: Position) -> None:
        """Nobody may ask for what is before."""
        self.released = max(self.released, position["n"])

    def held_bytes(self) -> int | None:
        """A byte for each commit."""
        return len(self.log) - self.released

    def close(self) -> None:
        """Nothing is open."""

    def drop(self) -> None:
        """Nothing was made."""

    def _check_held(self, position: Position) -> None:
        if position["n"] < self.released:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(f"{position} was released; kept from {self.released} on.")


def _is_in(chunk: Chunk, key: tuple[Any, ...]) -> bool:
    return (chunk.low is None or key >= chunk.low) and (chunk.high is None or key < chunk.high)


def _batch(schema: Schema, rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, arrow_schema(schema))


class Replay:
    """A sink that takes events and believes nothing: every change must fit the rows that it has."""

    def __init__(self) -> None:
        self.rows: dict[TableId, dict[tuple[Any, ...], Row]] = {}
        self.must_end: set[TableId] = set()
        """Tables of which a row changed that had not come: they were gone when they were copied, and end later on."""

    def take(self, event: Event) -> None:
        """Apply an event."""
        if isinstance(event, SchemaChange):
            if event.kind is SchemaChangeKind.DROP:
                self.rows.pop(event.id, None)
                self.must_end.discard(event.id)
            elif event.kind is SchemaChangeKind.ALTER:
                assert event.after is not None
                for row in self.rows.get(event.id, {}).values():
                    values = {name: row.get(name) for name in event.after.schema.names}
                    row.clear()
                    row.update(values)
            return
        rows = self.rows.setdefault(event.table.id, {})
        kinds = event.kinds.to_pylist() if event.kinds is not None else [1] * event.rows.num_rows
        for kind, row in zip(kinds, event.rows.to_pylist(), strict=True):
            key = tuple(row[name] for name in event.table.schema.primary_key)
            if kind in (ChangeKind.UPDATE_BEFORE, ChangeKind.DELETE):
                before = rows.pop(key, None)
                if before is None:
                    self.must_end.add(event.table.id)
                else:
                    assert before == row, f"{event.table.id}: {before} was there, not {row}"
            else:
                assert key not in rows, f"{event.table.id}: {key} comes twice"
                rows[key] = row
