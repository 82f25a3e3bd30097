"""MysqlDatabase: MySQL and MariaDB behind the port of captures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from lakeward.capture.mysql.binlog.dump import BinlogDump
from lakeward.capture.mysql.cells.charsets import Charsets
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.mysql.read.changes import ChangeReader
from lakeward.capture.mysql.read.chunk_plan import plan_chunks
from lakeward.capture.mysql.read.chunk_reader import ChunkReader
from lakeward.capture.mysql.read.limits import limit_of
from lakeward.capture.mysql.schema.tables import find_tables
from lakeward.capture.mysql.server import position as positions
from lakeward.capture.mysql.server.log_status import LogStatus
from lakeward.capture.mysql.server.mysql_session import MysqlSession
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import Chunk, Event, Position, SourceTable
from lakeward.errors import ErrorCode
from lakeward.runtime.entropy import Entropy, SystemEntropy


class MysqlDatabase:
    """One server. Nothing is made on it: a reader of the binlog is known only while it reads."""

    def __init__(self, settings: ServerSettings, entropy: Entropy | None = None) -> None:
        self._settings = settings
        self._session = MysqlSession(settings)
        self._status = LogStatus(settings, self._session)
        self._dump = BinlogDump(settings, entropy or SystemEntropy())
        self._charsets = Charsets(self._session.query)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> MysqlDatabase:
        """The server that options name."""
        return cls(MysqlSettings.of(options))

    def tables(self) -> Sequence[SourceTable]:
        """The tables that the settings name, as they are now."""
        found = find_tables(self._session.query, self._settings)
        if not found:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"No table of {self._settings.server} that user '{self._settings.username}' may see matches"
                f" {self._settings.patterns}. Check the names, and that the user may SELECT from the tables."
            )
        return found

    def check(self) -> None:
        """Refuse a server that does not tell all changes, or not to this user."""
        self.begin()  # which makes nothing

    def begin(self) -> Position:
        """Where a new stream starts: now. Refuses a server that does not tell all changes, or not to this user."""
        self._status.check()
        start = self._status.now()
        self._dump.try_out(start)
        return start

    def now(self) -> Position:
        """The end of what has been committed."""
        return self._status.now()

    def limit(self, start: Position, end: Position, rows: int) -> Position:
        """The end of a transaction about so many changes after the start, or the end."""
        return limit_of(self._settings, self._dump, self._status, start, end, rows)

    def chunks(self, table: SourceTable, rows: int) -> Sequence[Chunk]:
        """Ranges of the key of about so many rows."""
        return plan_chunks(self._session.query, table, rows)

    def read_chunk(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """Rows of the range, exactly as they were at `as_of`, or as they are now."""
        return ChunkReader(self._settings, self._changes_of).read(table, chunk, as_of)

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """What was committed after `start`, up to and including `end`."""
        reader = ChangeReader(self._settings, self._session.query, self._charsets, known)
        for block in self._dump.read(start, end):
            yield from reader.read(block)

    def _changes_of(self, start: Position, end: Position, table: SourceTable) -> Iterator[Event]:
        reader = ChangeReader(self._settings, self._session.query, self._charsets, [table], table.id)
        for block in self._dump.read(start, end):
            yield from reader.read(block)

    def is_after(self, one: Position, other: Position) -> bool:
        """Whether `one` is later than `other`."""
        return positions.is_after(one, other)

    def release(self, position: Position) -> None:
        """Nothing: the server keeps its binlog as long as it was told to, whoever reads it."""

    def held_bytes(self) -> int | None:
        """None: the server keeps nothing for anyone."""
        return None

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def drop(self) -> None:
        """Nothing: nothing was made."""
