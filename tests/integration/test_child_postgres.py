"""The PostgreSQL of tests and of the demo: it starts as any user, it can be killed, and comes back with its rows."""

from __future__ import annotations

import psycopg
from postgres import Database, Postgres


def test_it_is_ready_for_logical_replication(pg: Database) -> None:
    """By socket and by TCP with a password, with the log that captures need."""
    with pg.connect() as connection:
        assert connection.execute("SHOW wal_level").fetchall() == [("logical",)]
    with psycopg.connect(pg.server.uri, dbname=pg.name) as connection:
        assert connection.execute("SELECT current_database()").fetchall() == [(pg.name,)]


def test_rows_that_were_committed_survive_a_kill() -> None:
    """`kill` and `start` are a crash and a recovery, on the same port."""
    with Postgres() as server:
        port = server.port
        with server.connect() as connection:
            connection.execute("CREATE TABLE t (a int)")
            connection.execute("INSERT INTO t VALUES (7)")
        with server.connect():
            server.kill()
            server.start()
        assert server.port == port
        with server.connect() as connection:
            assert connection.execute("SELECT a FROM t").fetchall() == [(7,)]
