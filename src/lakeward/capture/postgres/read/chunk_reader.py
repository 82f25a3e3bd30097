"""ChunkReader: rows of a range as they were at a position, read now.

    BEGIN, snapshot         which transactions are in it, and which were under way
    changes of the table    from the position to behind the snapshot, through a copy of the slot
    COPY                    the rows in the snapshot, but for keys that were changed since; those as they were before

A transaction that is before the position may still be under way in the snapshot: its commit is in the log, and nobody
sees it yet. It is waited for; where that takes long (a synchronous standby that is away), its changes are applied.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lakeward.capture.port import Chunk, SourceTable
from lakeward.capture.postgres.decode.cells import Cells, copy_cells
from lakeward.capture.postgres.decode.columns import ColumnReader
from lakeward.capture.postgres.read.queries import copy_out, name, names_now, range_condition, select_list
from lakeward.capture.postgres.read.table_changes import TableChanges, TableFollower, no_changes
from lakeward.capture.postgres.server.catalog import Catalog
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.replication import ReplicationStream, lsn_of
from lakeward.capture.postgres.server.slot import Slot, quote_table
from lakeward.errors import RetriableError
from lakeward.runtime.clock import Clock

_PATIENCE_S, _PAUSE_S = 0.5, 0.005
_FLUSH_S = 1.0
_UNDER_WAY = "SELECT transactionid::text FROM pg_locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock'"


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """Which transactions a snapshot shows: those below `high` that were not `under_way`."""

    high: int
    under_way: frozenset[int]

    @classmethod
    def of(cls, text: str) -> SnapshotView:
        """As pg_current_snapshot writes it: low:high:list."""
        _, high, under_way = text.split(":")
        return cls(int(high), frozenset(int(xid) for xid in under_way.split(",") if xid))

    def shows(self, xid: int) -> bool:
        """Whether it shows a transaction, of which the log tells the lower 32 bits."""
        behind = (self.high - xid) & 0xFFFFFFFF
        whole = self.high - behind
        return 0 < behind < 1 << 31 and whole not in self.under_way


class ChunkReader:
    """Reads chunks, one after the other."""

    def __init__(self, session: Session, catalog: Catalog, slot: Slot, clock: Clock) -> None:
        self._session, self._catalog, self._slot, self._clock = session, catalog, slot, clock
        self._columns = ColumnReader(session.settings.nulls_odd)
        self._follower: TableFollower | None = None

    def read(self, table: SourceTable, chunk: Chunk, as_of: int | None) -> Iterator[pa.RecordBatch]:
        """The rows of the range, as they were at `as_of`, or as they are now."""
        reader = Session(self._session.settings)
        try:
            with reader.connection() as connection:
                view, suspects = self._take_snapshot(connection, table)
                changes = no_changes(table) if as_of is None else self._changes(table, as_of, view, suspects)
                columns = self._select_list(table)
                yield from self._rows(connection, reader, table, chunk, columns, changes)
        finally:
            reader.close()

    def _rows(
        self, connection: Any, reader: Session, table: SourceTable, chunk: Chunk, columns: str, changes: TableChanges
    ) -> Iterator[pa.RecordBatch]:
        where = range_condition(table, chunk)
        query = f"SELECT {columns} FROM {quote_table(table.id)} WHERE {where}"
        count = len(table.schema.columns)
        for data in copy_out(connection, reader, query):
            cells = changes.keep(copy_cells(data, count))
            if cells.rows:
                yield self._columns.batch(table, cells)
        back = self._in_range(changes.put_back, table, chunk)
        if back.rows:
            yield self._columns.batch(table, back)

    def _take_snapshot(self, connection: Any, table: SourceTable) -> tuple[SnapshotView, frozenset[int]]:
        """A snapshot that the connection keeps; and transactions that may be before the position and not in it."""
        resting, deadline_s = threading.Event(), self._clock.monotonic() + _PATIENCE_S
        # Who is under way holds a lock on his own number until everybody sees what he did.
        under_way = [int(xid) for (xid,) in self._session.rows(_UNDER_WAY)]
        while True:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Locked before the snapshot is taken: whoever rewrites a table leaves nothing in older snapshots.
            connection.execute(f"LOCK TABLE {quote_table(table.id)} IN ACCESS SHARE MODE")
            view = SnapshotView.of(connection.execute("SELECT pg_current_snapshot()::text").fetchone()[0])
            suspects = frozenset(xid for xid in under_way if not view.shows(xid))
            if not suspects or self._clock.monotonic() > deadline_s:
                return view, suspects
            connection.execute("ROLLBACK")
            resting.wait(_PAUSE_S)

    def _changes(self, table: SourceTable, as_of: int, view: SnapshotView, suspects: frozenset[int]) -> TableChanges:
        end = self._behind_snapshot()
        follower = self._follower
        if follower is not None and (follower.table, follower.as_of, follower.suspects) == (table, as_of, suspects):
            with contextlib.suppress(RetriableError):  # lost, since it was not used for long
                return follower.read(end, view.shows)
        try:
            return self._follow(table, as_of, suspects).read(end, view.shows)
        except BaseException:
            self.close()  # where it is now, nobody can say
            raise

    def _follow(self, table: SourceTable, as_of: int, suspects: frozenset[int]) -> TableFollower:
        """A new reader of the table's changes. It is kept for the next chunk: to begin is to read the log again."""
        self.close()
        start = as_of if not suspects else min(as_of, lsn_of(self._slot.confirmed_lsn()))
        stream = ReplicationStream(self._session.settings, self._slot, self._clock, start)
        self._follower = TableFollower(stream, table, as_of, suspects, self._session, self._catalog)
        return self._follower

    def close(self) -> None:
        """End the connection that was kept."""
        if self._follower is not None:
            self._follower.close()
            self._follower = None

    def _behind_snapshot(self) -> int:
        """An LSN behind every commit that the snapshot shows, and that is on disk, so that it will be sent."""
        lsn = str(self._session.row("SELECT pg_current_wal_insert_lsn()::text")[0])
        resting, deadline_s = threading.Event(), self._clock.monotonic() + _FLUSH_S
        while not self._session.row("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", [lsn])[0]:
            if self._clock.monotonic() > deadline_s:
                self._session.rows("SELECT pg_logical_emit_message(true, 'lakeward', '')")
            resting.wait(_PAUSE_S)
        return lsn_of(lsn)

    def _select_list(self, table: SourceTable) -> str:
        """The columns under the names that they have now; one that is gone is NULL."""
        return select_list(names_now(table, self._catalog.numbers(table.id)))

    def _in_range(self, rows: Cells, table: SourceTable, chunk: Chunk) -> Cells:
        """Rows that are put back, if they belong to this range; the server compares."""
        if not rows.rows or (chunk.low is None and chunk.high is None):
            return rows
        keys = [table.schema.positions[key] for key in table.schema.primary_key]
        lists = [[text.decode() for text in rows.texts(key).to_pylist()] for key in keys]
        casts = [
            f"(k{n}::{table.native_types[key]}){self._collation(table, key)}"
            for n, key in enumerate(table.schema.primary_key)
        ]
        aliases = ", ".join(f"k{n}" for n in range(len(keys)))
        listed = ", ".join(["%s::text[]"] * len(keys))
        where = range_condition(table, chunk, casts).replace("%", "%%")
        found = self._session.rows(
            f"SELECT place FROM ROWS FROM (unnest({listed})) WITH ORDINALITY AS k({aliases}, place) WHERE {where}",
            lists,
        )
        return rows.take(np.array([place - 1 for (place,) in found], np.intp))

    def _collation(self, table: SourceTable, key: str) -> str:
        query = (
            "SELECT n.nspname, c.collname FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation"
            " JOIN pg_namespace n ON n.oid = c.collnamespace WHERE a.attrelid = %s::regclass AND a.attname = %s"
        )
        found = self._session.rows(query, [quote_table(table.id), key])
        return f" COLLATE {name(found[0][0])}.{name(found[0][1])}" if found else ""
