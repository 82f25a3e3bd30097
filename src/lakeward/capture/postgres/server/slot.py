"""Slot: the mark on the server that says how far the stream is, and the publication that says of which tables.

The slot is only a mark. Nobody reads through it: readers take a temporary copy of it each, which ends with their
connection. So any number of processes read at once, nothing is confirmed by reading, and a reader that was killed
blocks nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from lakeward.capture.port import TableId
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.failures import (
    NoRoomError,
    SlotInUseError,
    slot_gone_error,
    slot_lost_error,
    wal_level_error,
)
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import DeniedError, ErrorCode
from lakeward.runtime.clock import Clock

T = TypeVar("T")
_PAUSE_S = 0.1
_SLOT = """
SELECT plugin, database, confirmed_flush_lsn::text, wal_status, active_pid, slot_type
FROM pg_replication_slots WHERE slot_name = %s
"""
_MARK = "Made by Lakeward for the slot "


class Slot:
    """The slot and the publication of a stream."""

    def __init__(self, settings: ServerSettings, session: Session, clock: Clock) -> None:
        self._settings, self._session, self._clock = settings, session, clock

    def begin(self, tables: Sequence[TableId]) -> str:
        """Make both if they are absent; the LSN from which on every change of the tables is kept."""
        self.check_server()
        self.publish(tables)  # first: changes are decoded with the catalog of their time
        found = self._session.rows(_SLOT, [self._settings.slot])
        if not found:
            name = self._settings.slot
            self.patiently(
                lambda: self._session.rows("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [name])
            )
        return self.confirmed_lsn()

    def check_server(self) -> None:
        """Refuse a server that does not write what is needed."""
        level, is_standby = self._session.row("SELECT current_setting('wal_level'), pg_is_in_recovery()")
        if level != "logical":
            raise wal_level_error(self._settings)
        if is_standby:
            raise ErrorCode.INVALID_CONFIG.error(
                f"The server {self._settings.server} is a standby; name the primary server in 'hostname'."
            )

    def confirmed_lsn(self) -> str:
        """The LSN up to which everything was released; an error if the slot is gone, lost or not ours."""
        found = self._session.rows(_SLOT, [self._settings.slot])
        if not found:
            raise slot_gone_error(self._settings)
        plugin, database, lsn, status, _, kind = found[0]
        if kind != "logical" or plugin != "pgoutput" or database != self._settings.database:
            what = f"for database '{database}' with the plugin '{plugin}'" if kind == "logical" else "a physical one"
            raise ErrorCode.INVALID_CONFIG.error(
                f"The replication slot '{self._settings.slot}' at {self._settings.server} is another's: it is {what}."
                " Set 'slot.name' to a name that is free, or drop it: SELECT"
                f" pg_drop_replication_slot('{self._settings.slot}')."
            )
        if status == "lost":
            raise slot_lost_error(self._settings)
        return str(lsn)

    def publish(self, tables: Sequence[TableId]) -> None:
        """See that the publication has the tables; one that somebody else made is only added to."""
        name, session = self._settings.publication, self._session
        query = "SELECT pubinsert AND pubupdate AND pubdelete FROM pg_publication WHERE pubname = %s"
        found = session.rows(query, [name])
        if not found:
            scope = "ALL TABLES" if self._settings.publishes_all else f"TABLE {_listing(tables)}"
            more = ", publish_generated_columns = stored" if session.version >= 180000 else ""
            session.rows(f'CREATE PUBLICATION "{name}" FOR {scope} WITH (publish_via_partition_root = true{more})')
            session.rows(f"COMMENT ON PUBLICATION \"{name}\" IS '{_MARK}{self._settings.slot}'")
            return
        if not found[0][0]:
            raise ErrorCode.INVALID_CONFIG.error(
                f"The publication '{name}' leaves out inserts, updates or deletes. Run ALTER PUBLICATION \"{name}\" SET"
                " (publish = 'insert, update, delete, truncate')."
            )
        there = session.rows("SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s", [name])
        absent = [table for table in tables if (table.space, table.name) not in set(there)]
        if absent:
            statement = f'ALTER PUBLICATION "{name}" ADD TABLE {_listing(absent)}'
            try:
                session.rows(statement)
            except DeniedError:
                raise ErrorCode.AUTHORIZATION.error(
                    f"The publication '{name}' at {self._settings.server} has not all tables that are to be followed,"
                    f" and user '{self._settings.username}' may not add to it. Run as its owner: {statement}."
                ) from None

    def publish_new(self, tables: Sequence[TableId]) -> None:
        """Add tables that are new to the publication, if the stream has begun."""
        query = "SELECT 1 FROM pg_publication WHERE pubname = %s"
        if self._session.rows(query, [self._settings.publication]):
            self.publish(tables)

    def release(self, lsn: str) -> None:
        """Let the server forget what was before; a slot that is further is left alone."""
        name = self._settings.slot
        query = (
            "SELECT pg_replication_slot_advance(slot_name, least(%s::pg_lsn, pg_current_wal_flush_lsn()))"
            " FROM pg_replication_slots WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn"
        )
        self.patiently(lambda: self._session.rows(query, [lsn, name, lsn]))

    def held_bytes(self) -> int | None:
        """Bytes of the log that the server keeps because of the slot."""
        query = (
            "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint FROM pg_replication_slots"
            " WHERE slot_name = %s"
        )
        found = self._session.rows(query, [self._settings.slot])
        return None if not found or found[0][0] is None else max(0, int(found[0][0]))

    def drop(self) -> None:
        """Remove the slot, and the publication if we made it."""
        query = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"
        self.patiently(lambda: self._session.rows(query, [self._settings.slot]))
        query = "SELECT obj_description(oid, 'pg_publication') FROM pg_publication WHERE pubname = %s"
        if self._session.rows(query, [self._settings.publication]) == [(f"{_MARK}{self._settings.slot}",)]:
            self._session.rows(f'DROP PUBLICATION IF EXISTS "{self._settings.publication}"')

    def patiently(self, work: Callable[[], T]) -> T:
        """Do it, again and again while the slot is in use or all are taken, for as long as the settings allow."""
        resting, deadline_s = threading.Event(), self._clock.monotonic() + self._settings.read_timeout_s
        while True:
            try:
                return work()
            except (SlotInUseError, NoRoomError) as wrong:
                if self._clock.monotonic() > deadline_s:
                    raise self._impatience(wrong) from None
            resting.wait(_PAUSE_S)

    def _impatience(self, wrong: Exception) -> Exception:
        server, seconds = self._settings.server, round(self._settings.read_timeout_s)
        if isinstance(wrong, SlotInUseError):
            return ErrorCode.NETWORK.error(
                f"The replication slot '{self._settings.slot}' at {server} was in use for {seconds} s: {wrong}. If that"
                " process is a stream of the same name, stop it; otherwise set another 'slot.name'."
            )
        return ErrorCode.NETWORK.error(
            f"PostgreSQL at {server} had no replication slot or sender to spare for {seconds} s: {wrong}. Raise"
            " max_replication_slots and max_wal_senders, and restart it, or drop slots that nobody needs (SELECT * FROM"
            " pg_replication_slots)."
        )


def _listing(tables: Sequence[TableId]) -> str:
    return ", ".join(quote_table(table) for table in tables)


def quote_table(table: TableId) -> str:
    """A table's name in SQL."""
    return ".".join('"' + word.replace('"', '""') + '"' for word in (table.space, table.name))
