"""ChunkReader: the rows of a range of keys exactly as they were at a place in the binlog, without a lock.

The rows are read in a snapshot that is later than the place; what was changed in between is put back. MariaDB says
exactly where its snapshot is. MySQL does not: the place is taken after the snapshot was made, and undoing by the first
change is right wherever between the two the snapshot is. What is left is a moment of MySQL's own: a transaction that is
in the binlog before `as_of` and that the snapshot does not see yet, because its commit is just being ended, is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakeward.capture.mysql.cells.answer_columns import column_of_answer
from lakeward.capture.mysql.cells.cells import I64, Cells
from lakeward.capture.mysql.cells.temporal import ColumnForm
from lakeward.capture.mysql.read.chunk_plan import chunk_columns
from lakeward.capture.mysql.read.literals import key_natives, key_sides, literal, within
from lakeward.capture.mysql.read.undo import BagUndo, ChangedRows, KeyedUndo
from lakeward.capture.mysql.schema.tables import column_forms, quote, quote_name, read_table, source_table
from lakeward.capture.mysql.server import position as positions
from lakeward.capture.mysql.server.log_status import LogStatus
from lakeward.capture.mysql.server.mysql_session import MysqlSession
from lakeward.capture.mysql.server.packets import Block
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.mysql.server.wire_kernels import cut_fields
from lakeward.capture.port import Chunk, Event, Position, SchemaChange, SourceTable
from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.arrow.arrow_types import arrow_schema

_ROWS_MAX = 65_536
_KEYS_PER_QUERY = 200
_SNAPSHOTS_MAX = 20
Changes = Callable[[Position, Position, SourceTable], Iterator[Event]]


class ChunkReader:
    """Reads chunks of one database; `changes` gives what was committed between two places in one table."""

    def __init__(self, settings: ServerSettings, changes: Changes) -> None:
        self._settings = settings
        self._changes = changes

    def read(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """Rows of the range as they were, or, without a place, as they are."""
        session = MysqlSession(self._settings)
        try:
            if as_of is None:
                yield from self._select(session, table, {name: name for name in table.schema.names}, chunk)
                return
            status = LogStatus(self._settings, session)
            if not _is_transactional(session, table):
                yield from self._read_held(session, status, table, chunk, as_of)
                return
            snapshot = self._take_snapshot(session, status, table, as_of)
            undo, names = self._undo(table, as_of, snapshot)
            for batch in self._select(session, table, names, chunk):
                kept = batch if undo is None else undo.keep(batch)
                if len(kept):
                    yield _in_columns_of(table, kept)
            if undo is not None:
                yield from self._rows_back(session, table, chunk, undo)
        finally:
            session.close()

    def _read_held(
        self, session: MysqlSession, status: LogStatus, table: SourceTable, chunk: Chunk, as_of: Position
    ) -> Iterator[pa.RecordBatch]:
        """Tables whose engine has no snapshots: one SELECT sees one moment, which lies before the place taken after."""
        if not table.schema.primary_key:
            session.query(f"LOCK TABLES {quote_name(table.id.space, table.id.name)} READ")
        natural = {name: name for name in table.schema.names}
        rows = list(self._select(session, table, natural, chunk))
        end = status.now()
        if not table.schema.primary_key:
            session.query("UNLOCK TABLES")
        undo, _ = self._undo(table, as_of, end)
        for batch in rows if undo is None else map(undo.keep, rows):
            if len(batch):
                yield _in_columns_of(table, batch)
        if undo is not None:
            yield from self._rows_back(session, table, chunk, undo)

    def _take_snapshot(self, session: MysqlSession, status: LogStatus, table: SourceTable, as_of: Position) -> Position:
        """Start a transaction; the place from which back to `as_of` changes are to be undone."""
        before = as_of
        for _ in range(_SNAPSHOTS_MAX):
            session.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            snapshot, is_exact = status.snapshot()
            if is_exact or table.schema.primary_key:
                return snapshot
            # Without a key a change must be undone once: a snapshot is wanted around which the table did not change.
            if positions.place(before) == positions.place(snapshot) or not any(
                True for _ in self._changes(before, snapshot, table)
            ):
                return snapshot
            session.query("ROLLBACK")
            before = status.now()
        raise ErrorCode.REQUEST_TIME_OUT.error(
            f"Table {table.id} has no primary key and changes all the time: no snapshot of it could be taken. Give it a"
            " primary key, or copy it when it is quiet."
        )

    def _undo(
        self, table: SourceTable, as_of: Position, snapshot: Position
    ) -> tuple[KeyedUndo | BagUndo | None, dict[str, str]]:
        """What to put back, and under which names the columns of the table are in the snapshot."""
        is_forward = positions.is_after(as_of, snapshot)
        start, end = (snapshot, as_of) if is_forward else (as_of, snapshot)
        names, changes = {name: name for name in table.schema.names}, list[ChangedRows]()
        for event in self._changes(start, end, table):
            if isinstance(event, SchemaChange):
                _follow(names, event)
            elif event.kinds is not None:
                changes.append(ChangedRows(_under_old_names(event.rows, names), event.kinds))
        if not changes:
            return None, names
        schema = arrow_schema(table.schema)
        if table.schema.primary_key:
            return KeyedUndo(changes, schema, table.schema.primary_key, by_last=is_forward), names
        fitting = [ChangedRows(_in_columns_of(table, change.rows), change.kinds) for change in changes]
        return BagUndo(fitting, is_forward=is_forward), names

    def _select(
        self, session: MysqlSession, table: SourceTable, names: dict[str, str], chunk: Chunk
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a range as the snapshot has them: types as they are now, names as they were."""
        now = source_table(read_table(session.query, table.id), self._settings.rules)
        there = {name: new for name, new in names.items() if new in now.native_types}
        if not now.native_types:
            return  # dropped since: the changes say so
        forms = {form.name: form for form in column_forms(now, self._settings.rules)}
        chosen = [forms[f"{table.id}.{new}"] for new in there.values()]
        key = chunk_columns(table)
        condition = within(key_sides([there[name] for name in key]), key_natives(table, key), chunk) if key else "TRUE"
        source = quote_name(table.id.space, table.id.name)
        statement = f"SELECT {', '.join(map(quote_name, there.values()))} FROM {source} WHERE {condition}"  # noqa: S608 - names are quoted
        sizes, blocks = session.select(statement)
        for block in blocks:
            for begin in range(0, len(block.starts), _ROWS_MAX):
                yield pa.RecordBatch.from_arrays(_columns(chosen, sizes, block, begin), names=list(there))

    def _rows_back(
        self, session: MysqlSession, table: SourceTable, chunk: Chunk, undo: KeyedUndo | BagUndo
    ) -> Iterator[pa.RecordBatch]:
        """The rows that are put back, as far as they are of this range: the server compares, with its collations."""
        key = chunk_columns(table)
        for rows in undo.rows_back:
            batch = _in_columns_of(table, rows)
            if chunk.low is not None or chunk.high is not None:
                keys = list(zip(*(batch.column(name).to_pylist() for name in key), strict=True))
                batch = batch.filter(pa.array(_inside(session, table, key, keys, chunk)))
            if len(batch):
                yield batch


def _is_transactional(session: MysqlSession, table: SourceTable) -> bool:
    found = session.query(
        "SELECT e.TRANSACTIONS FROM INFORMATION_SCHEMA.TABLES t"  # noqa: S608 - names are quoted
        " JOIN INFORMATION_SCHEMA.ENGINES e ON e.ENGINE = t.ENGINE"
        f" WHERE t.TABLE_SCHEMA = {quote(table.id.space)} AND t.TABLE_NAME = {quote(table.id.name)}"
    )
    return not found or found[0][0] == "YES"


def _columns(forms: Sequence[ColumnForm], sizes: I64, block: Block, begin: int) -> list[pa.Array]:
    starts, lengths = block.starts[begin : begin + _ROWS_MAX], block.lengths[begin : begin + _ROWS_MAX]
    field_starts = np.empty((len(forms), len(starts)), np.int64)
    field_lengths = np.empty((len(forms), len(starts)), np.int32)
    if cut_fields(block.data, starts, lengths, sizes, field_starts, field_lengths) >= 0:
        raise ErrorCode.CORRUPT_MESSAGE.error("A row that the server sent cannot be read.")
    return [
        column_of_answer(form, Cells(block.data, field_starts[index], field_lengths[index]))
        for index, form in enumerate(forms)
    ]


def _follow(names: dict[str, str], change: SchemaChange) -> None:
    """Columns under the names that a schema change gives them."""
    for name, current in names.items():
        names[name] = change.renamed.get(current, current)


def _under_old_names(rows: pa.RecordBatch, names: dict[str, str]) -> pa.RecordBatch:
    """The columns that a table had, of rows that may have others."""
    there = {name: new for name, new in names.items() if new in rows.schema.names}
    return pa.RecordBatch.from_arrays([rows.column(new) for new in there.values()], names=list(there))


def _in_columns_of(table: SourceTable, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows in a table's columns; one that is gone is NULL, one that has another type is cast, or it is an error."""
    schema = arrow_schema(table.schema)
    if rows.schema.equals(schema):
        return rows
    try:
        arrays = [
            rows.column(field.name).cast(field.type)
            if field.name in rows.schema.names
            else pa.nulls(len(rows), field.type)
            for field in schema
        ]
    except pa.ArrowInvalid as wrong:
        raise _altered_table(table, str(wrong)) from None
    if any(not field.nullable and array.null_count for field, array in zip(schema, arrays, strict=True)):
        raise _altered_table(table, "a column that must not be NULL is gone")
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _altered_table(table: SourceTable, why: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(
        f"Table {table.id} was altered while it was being copied, and its rows can no longer be read as they were:"
        f" {why}. Start the stream anew with a fresh checkpoint."
    )


def _inside(
    session: MysqlSession, table: SourceTable, key: Sequence[str], keys: list[tuple[Any, ...]], chunk: Chunk
) -> list[bool]:
    natives = key_natives(table, key)
    out: list[bool] = []
    for begin in range(0, len(keys), _KEYS_PER_QUERY):
        conditions = [
            within([literal(native, value) for native, value in zip(natives, values, strict=True)], natives, chunk)
            for values in keys[begin : begin + _KEYS_PER_QUERY]
        ]
        out += [bool(found) for found in session.query(f"SELECT {', '.join(conditions)}")[0]]
    return out
