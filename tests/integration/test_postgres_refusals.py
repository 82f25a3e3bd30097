"""What can go wrong with a PostgreSQL: an error that says what happened and what to run, and tells no secret."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from postgres import Database, Postgres

from lakeward.capture.postgres.postgres_database import PostgresDatabase
from lakeward.errors import DeniedError, InvalidError, LakewardError, NotFoundError, RetriableError

SourceOf = Callable[..., PostgresDatabase]


@pytest.fixture
def source_of(pg: Database) -> Iterator[SourceOf]:
    """Makes captures of table t, with options of one's own."""
    with contextlib.ExitStack() as opened:

        def make(of: Database = pg, **more: str) -> PostgresDatabase:
            given = {key.replace("__", ".").replace("_", "-"): value for key, value in more.items()}
            brisk = {"table-name": "t", "connect.timeout": "2 s", "read.timeout": "1 s"}
            return opened.enter_context(contextlib.closing(PostgresDatabase.of({**of.options, **brisk, **given})))

        yield make


def refused(work: Callable[[], object], kind: type[LakewardError], pattern: str) -> None:
    """The work fails with that error, whose text has no password in it."""
    with pytest.raises(kind, match=pattern) as caught:
        work()
    assert "s3cr3t" not in f"{caught.value!r} {caught.value}"


def make_table(pg: Database, statement: str = "CREATE TABLE t (id int PRIMARY KEY)") -> None:
    """The table t."""
    with pg.connect() as connection:
        connection.execute(statement)


def test_who_may_not_come_in(pg: Database, source_of: SourceOf) -> None:
    """A wrong password, a database that is not there, a server that is not there."""
    make_table(pg)
    refused(source_of(password="s3cr3t").tables, DeniedError, "refused the password of user 'postgres'")
    refused(source_of(database_name="nowhere").tables, NotFoundError, "no database 'nowhere'")
    refused(source_of(port="1", password="s3cr3t").tables, RetriableError, "127.0.0.1:1 cannot be reached")
    assert "s3cr3t" not in repr(source_of(password="s3cr3t")._settings)


def test_tables_that_cannot_be_captured(pg: Database, source_of: SourceOf) -> None:
    """No such table; none with a key; one that is not logged: what to run is named."""
    refused(source_of().tables, NotFoundError, r"No table of database .* matches public\.t")
    make_table(pg, "CREATE TABLE t (id int)")
    alter = re.escape('ALTER TABLE "public"."t" REPLICA IDENTITY FULL')
    refused(source_of().begin, InvalidError, f"has no primary key.*{alter}")
    with pg.connect() as connection:
        connection.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
        connection.execute("ALTER TABLE t REPLICA IDENTITY NOTHING")
        refused(source_of().begin, InvalidError, f"REPLICA IDENTITY NOTHING.*{alter}")
        connection.execute("ALTER TABLE t REPLICA IDENTITY DEFAULT")
        connection.execute("ALTER TABLE t SET UNLOGGED")
        refused(source_of().begin, InvalidError, "SET LOGGED")


def test_a_user_without_rights(pg: Database, source_of: SourceOf) -> None:
    """Who may not read, may not replicate or does not own the tables is told what the owner must run."""
    make_table(pg)
    with pg.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 's3cr3t'")
        guest = source_of(username="guest", password="s3cr3t")
        try:
            refused(guest.tables, DeniedError, "GRANT SELECT ON")
            connection.execute("GRANT SELECT ON t TO guest")
            refused(guest.begin, DeniedError, "CREATE PUBLICATION lakeward FOR TABLE")
            refused(guest.check, DeniedError, "ALTER ROLE guest REPLICATION")
            connection.execute("ALTER ROLE guest REPLICATION")
            refused(guest.check, DeniedError, "does not own t .*CREATE PUBLICATION lakeward FOR TABLE")
            connection.execute("ALTER ROLE guest NOREPLICATION")
            connection.execute("CREATE PUBLICATION lakeward FOR TABLE t")
            refused(guest.begin, DeniedError, "ALTER ROLE guest REPLICATION")
            connection.execute("ALTER ROLE guest REPLICATION")
            guest.check()
            start, tables = guest.begin(), guest.tables()
            connection.execute("INSERT INTO t VALUES (1)")
            (event,) = guest.changes(start, guest.now(), tables)
            assert event.rows.to_pylist() == [{"id": 1}]  # type: ignore[union-attr]
        finally:
            connection.execute("DROP OWNED BY guest")
            connection.execute("DROP ROLE guest")


def test_slots_of_others(pg: Database, source_of: SourceOf) -> None:
    """A slot of another plugin or database is not ours; one that is gone cannot be gone on with."""
    make_table(pg)
    with pg.connect() as connection:
        connection.execute("SELECT pg_create_physical_replication_slot('theirs')")
        refused(source_of(slot__name="theirs").begin, InvalidError, "another's.*pg_drop_replication_slot")
        connection.execute("SELECT pg_drop_replication_slot('theirs')")
        source = source_of()
        start = source.begin()
        assert source.begin() == start  # ours, and nothing happened: it is gone on with
        tables = source.tables()
        connection.execute("SELECT pg_drop_replication_slot('lakeward')")
        refused(lambda: list(source.changes(start, source.now(), tables)), InvalidError, "Start the stream anew")


def test_a_slot_in_use_is_waited_for(pg: Database, source_of: SourceOf) -> None:
    """Somebody who reads through the slot itself does not disturb readers, and a release names the process."""
    make_table(pg)
    source = source_of()
    start, tables = source.begin(), source.tables()
    uri = f"{pg.server.socket_uri}&dbname={pg.name}&replication=database"
    other = psycopg.pq.PGconn.connect(uri.encode())
    options = b"proto_version '1', publication_names 'lakeward'"
    other.exec_(b"START_REPLICATION SLOT lakeward LOGICAL 0/0 (" + options + b")")
    with pg.connect() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        end = source.now()
        assert len(list(source.changes(start, end, tables))) == 1
        refused(lambda: source.release(end), RetriableError, r"in use for 1 s: .*active for PID \d+")
        other.finish()
        active = "SELECT active FROM pg_replication_slots WHERE slot_name = 'lakeward'"
        while connection.execute(active).fetchall()[0][0]:
            time.sleep(0.01)
    source.release(end)


@pytest.mark.long
def test_servers_that_are_not_prepared(source_of: SourceOf) -> None:
    """wal_level, no slot to spare, a log that was thrown away: each names the setting."""
    few = {
        "wal_level": "replica",
        "max_replication_slots": "1",
        "max_slot_wal_keep_size": "1MB",
        "max_wal_size": "32MB",
    }
    with Postgres({**few, "min_wal_size": "32MB"}) as server, server.new_database() as pg:
        make_table(pg)
        refused(source_of(pg).begin, InvalidError, "ALTER SYSTEM SET wal_level = 'logical'.*restart")
        server.stop()
        server._settings["wal_level"] = "logical"
        server.start()
        source = source_of(pg)
        start, tables = source.begin(), source.tables()
        refused(
            lambda: list(source.changes(start, start | {"lsn": "F/0"}, tables)), RetriableError, "max_replication_slots"
        )
        with pg.connect() as connection:
            for _ in range(3):
                connection.execute(
                    "SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1000000)), pg_switch_wal()"
                )
            connection.execute("CHECKPOINT")
        refused(lambda: list(source.changes(start, source.now(), tables)), InvalidError, "max_slot_wal_keep_size")
        refused(source.begin, InvalidError, "max_slot_wal_keep_size")
