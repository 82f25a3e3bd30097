"""ChangeReader: events of the binlog → rows and schema changes of the tables that are captured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lakeward.capture.mysql.binlog import events
from lakeward.capture.mysql.binlog.dump import EventBlock
from lakeward.capture.mysql.binlog.table_map import TableMap, read_length, read_table_map, table_name
from lakeward.capture.mysql.cells.cells import U8
from lakeward.capture.mysql.cells.charsets import Charsets, Query
from lakeward.capture.mysql.read.row_batches import RowShape
from lakeward.capture.mysql.schema.ddl import statement_kind
from lakeward.capture.mysql.schema.evolution import Evolution
from lakeward.capture.mysql.schema.tables import NativeTable, native_table, read_table, source_table
from lakeward.capture.mysql.schema.wire_types import agrees, table_of_map, with_wire_texts
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import Event, SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.errors import ErrorCode, LakewardError

_TABLE_ID_BYTES = 6
_KEY_BYTES = 8


class ChangeReader:
    """Knows the tables as they are at the place that was read last. One of it reads one range."""

    def __init__(
        self,
        settings: ServerSettings,
        query: Query,
        charsets: Charsets,
        known: Sequence[SourceTable],
        wanted: TableId | None = None,
    ) -> None:
        self._settings = settings
        self._query = query
        self._charsets = charsets
        self._wanted = wanted
        self.tables = {table.id: table for table in known}
        self._evolution = Evolution(query, settings.rules)
        self._shapes: dict[bytes, RowShape | None] = {}
        self._by_id: dict[bytes, RowShape | None] = {}
        #: Whether the transaction that is being read changed a captured table.
        self._has_rows = False

    def read(self, block: EventBlock) -> Iterator[Event]:
        """What a block holds, in the order of each table and around schema changes."""
        waiting: dict[int, RowShape] = {}
        data = block.data
        for index, kind in enumerate(block.kinds):
            if kind == events.TABLE_MAP:
                yield from self._see_table(block.body(index), waiting, data)
            elif kind in events.ROWS:
                shape = self._by_id.get(data[block.starts[index] : block.starts[index] + _TABLE_ID_BYTES].tobytes())
                if shape is not None:
                    self._has_rows = True
                    yield from self._see_rows(shape, kind, block, index, waiting)
            elif kind in {events.QUERY, events.QUERY_PACKED}:
                statement = events.read_statement(block.body(index), is_packed=kind == events.QUERY_PACKED)
                if statement_kind(statement.text):
                    yield from _flush(waiting, data)
                    yield from self._see_statement(statement)
            elif kind == events.PAYLOAD:
                yield from _flush(waiting, data)
                yield from self._see_payload(block, index)
            elif kind in events.BEGINS:
                self._has_rows = False
            elif kind == events.PARTIAL_UPDATE or (kind == events.XA_PREPARE and self._has_rows):
                raise _cannot_read(kind, self._settings.server)
            elif kind in {events.ROTATE, events.FORMAT}:
                self._by_id.clear()
        yield from _flush(waiting, data)

    def _see_payload(self, block: EventBlock, index: int) -> Iterator[Event]:
        """A compressed transaction of MySQL: the events in it as a block of their own."""
        inner = events.payload_events(block.body(index))
        data = np.frombuffer(b"".join(inner), np.uint8)
        ends = np.cumsum([len(event) for event in inner]).tolist()
        starts = [end - len(event) + events.HEAD_BYTES for end, event in zip(ends, inner, strict=True)]
        times = [block.seconds[index]] * len(inner)
        yield from self.read(
            EventBlock(block.file, data, [event[4] for event in inner], times, [0] * len(inner), starts, ends)
        )

    def _see_rows(
        self, shape: RowShape, kind: int, block: EventBlock, index: int, waiting: dict[int, RowShape]
    ) -> Iterator[Event]:
        head = block.data[block.starts[index] : block.starts[index] + 64].tobytes()
        at = _KEY_BYTES
        if kind in events.WITH_EXTRA:
            at += int.from_bytes(head[at : at + 2], "little")
            head = block.body(index)[: at + 600] if at + 64 > len(head) else head
        columns, at = read_length(head, at)
        bitmap_bytes = (columns + 7) // 8 * (2 if events.ROWS[kind] == 2 else 1)
        if bitmap_bytes + at > len(head):
            head = block.body(index)[: at + bitmap_bytes]
        self._check_image(shape, columns, head[at : at + bitmap_bytes])
        at += bitmap_bytes
        if kind in events.PACKED:
            yield from _flush(waiting, block.data)
            plain = np.frombuffer(events.inflate(block.body(index)[at:]), np.uint8)
            shape.add(events.ROWS[kind], 0, len(plain), block.seconds[index])
            yield from shape.take(plain)
            return
        shape.add(events.ROWS[kind], block.starts[index] + at, block.ends[index], block.seconds[index])
        waiting[id(shape)] = shape

    def _check_image(self, shape: RowShape, columns: int, bitmap: bytes) -> None:
        full = ((1 << columns) - 1).to_bytes((columns + 7) // 8, "little")
        if columns != len(shape.map.columns) or bitmap not in {full, full + full}:
            raise ErrorCode.INVALID_TABLE.error(
                f"A change of {shape.map.id} does not tell the whole row. Run SET GLOBAL binlog_row_image = 'FULL' on"
                f" {self._settings.server}, let its clients connect anew, and start the stream anew with a fresh"
                " checkpoint."
            )

    def _see_table(self, body: bytes, waiting: dict[int, RowShape], data: U8) -> Iterator[Event]:
        name, number = body[_KEY_BYTES:], body[:_TABLE_ID_BYTES]
        if name in self._shapes:
            self._by_id[number] = self._shapes[name]
            return
        id_ = table_name(body)
        shape = None
        if self._is_wanted(id_):
            yield from _flush(waiting, data)
            map_ = read_table_map(body)
            table, change = self._fit(map_)
            if change is not None:
                yield change
            shape = RowShape(map_, table, self._settings.rules, self._charsets)
        self._shapes[name] = self._by_id[number] = shape

    def _is_wanted(self, id_: TableId) -> bool:
        return id_ == self._wanted if self._wanted else self._settings.is_captured(id_)

    def _see_statement(self, statement: events.Statement) -> Iterator[Event]:
        changes = self._evolution.changes(statement.text, statement.database, self.tables, self._is_wanted)
        if changes:
            self._shapes.clear()
            self._by_id.clear()
        for change in changes:
            if change.kind is not SchemaChangeKind.TRUNCATE:
                self.tables.pop(change.id, None)
                if change.after is not None:
                    self.tables[change.after.id] = change.after
            yield change

    def _fit(self, map_: TableMap) -> tuple[SourceTable, SchemaChange | None]:
        """The table whose rows these are, and how it differs from what was known."""
        known = self.tables.get(map_.id)
        if known is not None and agrees(native_table(known), map_):
            return self._learn(known, with_wire_texts(native_table(known), map_, self._charsets)), None
        now = read_table(self._query, map_.id, known.comment if known else None)
        if now.columns and agrees(now, map_):
            found = with_wire_texts(now, map_, self._charsets)
        elif map_.is_full:
            found = self._with_comments(table_of_map(map_, self._charsets), known)
        else:
            raise _unknown_shape(map_, self._settings.server)
        table = source_table(found, self._settings.rules)
        kind = SchemaChangeKind.CREATE if known is None else SchemaChangeKind.ALTER
        self.tables[table.id] = table
        return table, SchemaChange(kind, table.id, known, table)

    def _learn(self, known: SourceTable, native: NativeTable) -> SourceTable:
        natives = {column.name: column.native for column in native.columns}
        if natives == dict(known.native_types):
            return known
        table = replace(known, native_types=natives)
        self.tables[table.id] = table
        return table

    @staticmethod
    def _with_comments(table: NativeTable, known: SourceTable | None) -> NativeTable:
        """Comments, and types that look the same on the wire, of the columns that were known."""
        if known is None:
            return table
        before = {column.name: column for column in native_table(known).columns}
        columns = tuple(
            replace(column, comment=before[column.name].comment) if column.name in before else column
            for column in table.columns
        )
        return replace(table, columns=columns, comment=known.comment)


def _flush(waiting: dict[int, RowShape], data: U8) -> Iterator[Event]:
    for shape in waiting.values():
        yield from shape.take(data)
    waiting.clear()


def _unknown_shape(map_: TableMap, server: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(
        f"The binlog of {server} has rows of {map_.id} with {len(map_.columns)} columns that agree neither with the"
        " table as it was nor as it is, and does not tell their names. Run SET GLOBAL binlog_row_metadata = 'FULL'"
        " there, so that rows can be read after a table is changed, and start the stream anew with a fresh checkpoint."
    )


def _cannot_read(kind: int, server: str) -> LakewardError:
    what = {
        events.PARTIAL_UPDATE: "changes of JSON in part. Run SET GLOBAL binlog_row_value_options = ''",
        events.XA_PREPARE: "XA transactions. Use plain transactions on captured servers",
    }[kind]
    return ErrorCode.UNSUPPORTED_VERSION.error(f"The binlog of {server} holds {what}; this cannot be captured.")
