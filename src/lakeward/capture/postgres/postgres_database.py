"""PostgresDatabase: the Database of the port for PostgreSQL, by logical replication. Positions are LSNs of commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from lakeward.capture.port import Chunk, Event, Position, SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.capture.postgres.decode.messages import Relation
from lakeward.capture.postgres.postgres_settings import PostgresSettings
from lakeward.capture.postgres.read.change_reader import ChangeReader
from lakeward.capture.postgres.read.chunk_reader import ChunkReader
from lakeward.capture.postgres.read.chunking import cut_table
from lakeward.capture.postgres.server.catalog import Catalog, refusal
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.replication import Bulk, ReplicationStream, lsn_of, lsn_text
from lakeward.capture.postgres.server.rights import check_rights
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.capture.postgres.server.slot import Slot
from lakeward.errors import ErrorCode, RetriableError
from lakeward.runtime.clock import Clock, SystemClock

_LSN = "lsn"
#: What a change of a row takes in the log, about: its values, its head, its place in an index.
_ROW_BYTES = 250
#: How often one read goes on after the connection was lost.
_RECONNECTS = 2


class PostgresDatabase:
    """One database of a PostgreSQL server. A stream of changes stays open for the call that goes on where it is."""

    def __init__(self, settings: ServerSettings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._session = Session(settings)
        self._catalog = Catalog(settings, self._session)
        self._slot = Slot(settings, self._session, self._clock)
        self._chunks = ChunkReader(self._session, self._catalog, self._slot, self._clock)
        self._stream: ReplicationStream | None = None
        self._relations: dict[int, Relation] = {}
        self._gone: dict[TableId, int] = {}

    @classmethod
    def of(cls, options: Mapping[str, str]) -> PostgresDatabase:
        """The database that options name."""
        return cls(PostgresSettings.of(options))

    def tables(self) -> Sequence[SourceTable]:
        """The tables that the settings name, as they are now; those that are new are published."""
        found = self._catalog.tables()
        if not found:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"No table of database '{self._settings.database}' at {self._settings.server} matches"
                f" {self._settings.wanted_tables}."
            )
        for table in found:
            wrong = refusal(table, self._settings)
            if wrong is not None:
                raise wrong
        self._slot.publish_new([table.table.id for table in found])
        return [table.table for table in found]

    def check(self) -> None:
        """Refuse a server that does not write what is needed, or not for this user."""
        self._slot.check_server()
        tables = [table.oid for table in self._catalog.tables()]
        self._slot.patiently(lambda: check_rights(self._settings, self._session, tables))

    def begin(self) -> Position:
        """Where a new stream starts: now. Makes the publication and the slot if they are absent."""
        return {_LSN: self._slot.begin([table.id for table in self.tables()])}

    def now(self) -> Position:
        """The end of what has been committed and is on disk."""
        return {_LSN: self._session.row("SELECT pg_current_wal_flush_lsn()::text")[0]}

    def limit(self, start: Position, end: Position, rows: int) -> Position:
        """A place about so many changes after the start, by the size of the log."""
        place = lsn_of(start[_LSN]) + rows * _ROW_BYTES
        return end if place >= lsn_of(end[_LSN]) else {_LSN: lsn_text(place)}

    def chunks(self, table: SourceTable, rows: int) -> Sequence[Chunk]:
        """Ranges of the primary key of about so many rows."""
        return cut_table(self._session, table, rows)

    def read_chunk(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """Rows of the range as they were at `as_of`; without REPLICA IDENTITY FULL those changed since are left out."""
        return self._chunks.read(table, chunk, None if as_of is None else lsn_of(as_of[_LSN]))

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """What was committed after `start`, up to and including `end`."""
        first, last = lsn_of(start[_LSN]), lsn_of(end[_LSN])
        gone = self._tables_gone(known)
        reader = ChangeReader(self._session, self._catalog, known, self._relations)
        try:
            while (bulk := self._read(first, last, reader)) is not None:
                yield from reader.events(bulk)
        except BaseException:
            self._close_stream()  # where it is now, nobody can say
            raise
        for table in known:
            if self._gone.get(table.id, last) < last and table.id in gone:
                yield SchemaChange(SchemaChangeKind.DROP, table.id, table)

    def is_after(self, one: Position, other: Position) -> bool:
        """Whether `one` is later than `other`."""
        return lsn_of(one[_LSN]) > lsn_of(other[_LSN])

    def release(self, position: Position) -> None:
        """Let the server forget the log up to here."""
        self._slot.release(position[_LSN])

    def held_bytes(self) -> int | None:
        """How much of its log the server keeps for this stream."""
        return self._slot.held_bytes()

    def close(self) -> None:
        """End the connections; slot and publication stay."""
        self._chunks.close()
        self._close_stream()
        self._session.close()

    def drop(self) -> None:
        """Remove the slot, and the publication if we made it."""
        self._chunks.close()
        self._close_stream()
        self._slot.drop()

    def _read(self, first: int, last: int, reader: ChangeReader) -> Bulk | None:
        """The next messages of a range; where the connection is lost, the range is read again up to where we were."""
        for _ in range(_RECONNECTS):
            try:
                return self._stream_at(first, is_begun=reader.has_begun).read(last)
            except RetriableError:
                self._close_stream()
                reader.begin_again()
        return self._stream_at(first, is_begun=reader.has_begun).read(last)

    def _stream_at(self, start: int, *, is_begun: bool) -> ReplicationStream:
        """The stream that is open, if it is there already: a new one reads the log from the slot's place on."""
        if self._stream is None or not (is_begun or self._stream.position == start):
            self._close_stream()
            if start < lsn_of(self._slot.confirmed_lsn()):
                raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                    f"Changes after {lsn_text(start)} were released on {self._settings.server}: the slot"
                    f" '{self._settings.slot}' is further. Start the stream anew, without its checkpoint."
                )
            self._stream = ReplicationStream(self._settings, self._slot, self._clock, start)
        return self._stream

    def _close_stream(self) -> None:
        self._relations.clear()
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _tables_gone(self, known: Sequence[SourceTable]) -> set[TableId]:
        """Tables that are not there any more, each with a place in the log that is not before it went."""
        gone, lsn = self._catalog.missing([table.id for table in known])
        self._gone = {id_: self._gone.get(id_, lsn_of(lsn)) for id_ in gone}
        return gone
