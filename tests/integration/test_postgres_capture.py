"""A copy of tables that are worked on meanwhile, and the changes after it: nothing is lost, nothing comes twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from capture_model import CapturedTable, Row, plain_rows
from postgres import Database, Postgres
from postgres_load import TABLES, Load, make_tables

from lakeward.capture.port import Event, Position, SourceTable, TableRows
from lakeward.capture.postgres.postgres_database import PostgresDatabase

_ROWS_PER_CHUNK = 10


@pytest.fixture
def source(pg: Database) -> Iterator[PostgresDatabase]:
    """The capture of a database with the tables that are worked on."""
    with pg.connect() as connection:
        make_tables(connection)
    database = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
    yield database
    database.close()


def rows_now(pg: Database, table: SourceTable) -> Counter[Row]:
    """The rows as the server itself answers; ids as text, as we have them."""
    with pg.connect() as connection:
        rows = connection.execute(f"SELECT * FROM {table.id}").fetchall()
    return Counter(tuple(str(v) if type(v).__name__ == "UUID" else v for v in row) for row in rows)


def copy_of(source: PostgresDatabase, table: SourceTable, as_of: Position, *, is_strict: bool) -> CapturedTable:
    """A table as its chunks tell it."""
    copied = CapturedTable(table, is_strict=is_strict)
    for chunk in source.chunks(table, _ROWS_PER_CHUNK):
        copied.copy(source.read_chunk(table, chunk, as_of))
    return copied


def wait_for_rows(pg: Database, count: int) -> None:
    """Until the work has left its mark."""
    with pg.connect() as connection:
        while connection.execute("SELECT count(*) FROM heap").fetchall()[0][0] < count:
            time.sleep(0.01)


@pytest.mark.covering("1")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_copy_under_load_is_exact(pg: Database, source: PostgresDatabase, seed: int) -> None:
    """Chunks as of a position are what the changes up to it make; with the changes after it they are the table."""
    tables = source.tables()
    assert {table.id.name for table in tables} == set(TABLES)
    start = source.begin()
    with Load(pg, seed):
        wait_for_rows(pg, 40)
        as_of = source.now()
        copies = {t.id: copy_of(source, t, as_of, is_strict=t.has_before) for t in tables}
        again = {t.id: copy_of(source, t, as_of, is_strict=True) for t in tables if t.has_before}
    end = source.now()
    before, after = list(source.changes(start, as_of, tables)), list(source.changes(as_of, end, tables))
    for table in tables:
        told = CapturedTable(table, is_strict=table.has_before)
        told.apply(before)
        copied = copies[table.id]
        if table.has_before:
            assert copied.rows == told.rows == again[table.id].rows
        else:  # rows that were changed since are left out, and no row is another
            assert not copied.rows - told.rows
        told.apply(after)
        copied.apply(after)
        assert copied.rows == told.rows == rows_now(pg, table)


def test_changes_that_are_read_again_are_the_same(pg: Database, source: PostgresDatabase) -> None:
    """Nothing is confirmed by reading: the same range gives the same events, in one piece or in many, here or there."""
    tables = source.tables()
    start = source.begin()
    with Load(pg, 7):
        wait_for_rows(pg, 30)
    end = source.now()
    another = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
    whole = changes_by_table(source.changes(start, end, tables))
    assert changes_by_table(another.changes(start, end, tables)) == whole
    another.close()
    pieces: list[Event] = []
    at, count = start, 0
    while source.is_after(end, at):
        place = source.limit(at, end, 20)
        pieces += source.changes(at, place, tables)
        at, count = place, count + 1
    assert count > 5
    assert changes_by_table(pieces) == whole


def changes_by_table(events: Iterable[Event]) -> dict[str, list[tuple[int, Row]]]:
    """What happened to each table, in order; how much comes at once depends on how fast the server is."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for event in events:
        assert isinstance(event, TableRows)
        assert event.kinds is not None
        changes = zip(event.kinds.to_pylist(), plain_rows(event.rows), strict=True)
        found.setdefault(str(event.table.id), []).extend(changes)
    return found


def test_an_end_is_reached_where_nothing_happens(pg: Database, source: PostgresDatabase) -> None:
    """Work on other databases fills the log too; a stream reaches its end although nothing of it is ours."""
    tables = source.tables()
    start = source.begin()
    with pg.server.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS elsewhere (a int)")
        connection.execute("INSERT INTO elsewhere SELECT generate_series(1, 1000)")
    end = source.now()
    assert source.is_after(end, start)
    assert list(source.changes(start, end, tables)) == []
    assert list(source.changes(end, end, tables)) == []


def test_what_was_released_is_not_kept(pg: Database, source: PostgresDatabase) -> None:
    """Only a release lets the server forget; before it everything can be asked for, after it that is an error."""
    tables = source.tables()
    start = source.begin()
    with Load(pg, 3):
        wait_for_rows(pg, 10)
    end = source.now()
    assert list(source.changes(start, end, tables))
    assert (source.held_bytes() or 0) > 0
    source.release(start)  # it is there already
    source.release(end)
    assert list(source.changes(end, source.now(), tables)) == []
    with pytest.raises(Exception, match="Start the stream anew"):
        list(source.changes(start, end, tables))


def test_the_end_of_a_stream_leaves_nothing_behind(pg: Database, source: PostgresDatabase) -> None:
    """Slot and publication are removed; a publication that was there before stays."""
    source.begin()
    source.drop()
    assert source.held_bytes() is None
    with pg.connect() as connection:
        mine = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
        assert connection.execute(mine).fetchall() == [(0,)]
        assert connection.execute("SELECT pubname FROM pg_publication").fetchall() == []
        connection.execute("CREATE PUBLICATION lakeward FOR ALL TABLES")
        source.begin()
        source.drop()
        assert connection.execute("SELECT pubname FROM pg_publication").fetchall() == [("lakeward",)]


@pytest.mark.long
def test_a_commit_that_nobody_sees_yet(pg: Database, source: PostgresDatabase) -> None:
    """It waits for a standby that is away: its changes are in the log, so a copy as of a place behind it has them."""
    tables = {table.id.name: table for table in source.tables()}
    with pg.connect() as connection, pg.connect() as other:
        connection.execute("INSERT INTO pairs VALUES ('a', 1, 'old', NULL), ('a', 2, 'old', NULL)")
        connection.execute("INSERT INTO plain VALUES (1, 'old', 1, repeat('x', 9000)), (2, 'old', 2, NULL)")
        connection.execute("INSERT INTO heap VALUES ('old', 1), ('old', 1), ('gone', 2)")
        source.begin()
        connection.execute("SET synchronous_commit = local")
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        connection.execute("SELECT pg_reload_conf()")
        while other.execute("SHOW synchronous_standby_names").fetchall() != [("nobody",)]:
            time.sleep(0.01)
        try:
            work = threading.Thread(target=other.execute, args=(_UNSEEN,))
            work.start()
            waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()"
            while not connection.execute(waiting).fetchall():
                time.sleep(0.01)
            as_of = source.now()
            assert connection.execute("SELECT v FROM plain WHERE id = 1").fetchall() == [("old",)]
            copies = {name: copy_of(source, table, as_of, is_strict=True).rows for name, table in tables.items()}
        finally:
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")
        work.join()
        for name, table in tables.items():
            assert copies[name] == rows_now(pg, table), name
        assert copies["heap"] == {("old", 1): 1, ("new", 1): 1, ("new", 3): 1}


#: One statement, so that it is one transaction: every kind of change, in tables of every kind.
_UNSEEN = """
DO $$ BEGIN
    UPDATE plain SET v = 'new' WHERE id = 1; DELETE FROM plain WHERE id = 2;
    INSERT INTO plain VALUES (3, 'new', 3, NULL);
    UPDATE pairs SET v = 'new' WHERE b = 1; UPDATE pairs SET b = 7 WHERE b = 2;
    UPDATE heap SET v = 'new' WHERE ctid = '(0,1)'; DELETE FROM heap WHERE n = 2; INSERT INTO heap VALUES ('new', 3);
END $$
"""


@pytest.mark.crash
def test_a_killed_server_loses_nothing() -> None:
    """kill -9 of the database in the middle of a stream: the next read goes on, and the table is the source's."""
    with Postgres() as server, server.new_database() as pg:
        with pg.connect() as connection:
            make_tables(connection)
        source = PostgresDatabase.of({**pg.options, "tables": r"public.\.*"})
        tables = source.tables()
        at = source.begin()
        told = {table.id: CapturedTable(table, is_strict=table.has_before) for table in tables}
        for seed in range(3):
            with Load(pg, seed):
                wait_for_rows(pg, 10)
                middle = source.now()
                events = list(source.changes(at, middle, tables))
                for table in tables:
                    told[table.id].apply(events)
                at = middle
                server.kill()
            server.start()
        end = source.now()
        events = list(source.changes(at, end, tables))
        for table in tables:
            told[table.id].apply(events)
            assert told[table.id].rows == rows_now(pg, table)
        source.close()
