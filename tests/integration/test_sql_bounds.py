"""`lakeward sql serve` under people who take too much: of memory, of connections, of time."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import adbc_driver_flightsql.dbapi as flight_sql
import psycopg
import pytest
from psycopg.pq import TransactionStatus
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from sql_shop import sql_shop

pytestmark = pytest.mark.slow
_SHOP = "crowded_shop"
#: More than there are threads that may wait for a place.
_CONNECTIONS = int(os.environ.get("SQL_CONNECTIONS", "250"))


@pytest.fixture(scope="module")
def shop(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerProcess]:
    """One that has little, for all tests of this file."""
    small = ("--queries", "2", "--query-memory", "64")
    with sql_shop(server.bootstrap, tmp_path_factory.mktemp("shop"), _SHOP, *small) as started:
        yield started


def memory_kb(shop: SqlServerProcess, name: str) -> int:
    """What the system says of the server."""
    lines = Path(f"/proc/{shop.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@pytest.mark.parametrize(
    "sql",
    ["SELECT range(400000000)", "SELECT repeat('x', 2000000000)", "SELECT list(i) FROM range(100000000) r(i)"],
)
def test_a_question_that_takes_too_much_memory_ends_alone(shop: SqlServerProcess, sql: str) -> None:
    """It is told so, whether DuckDB counts that memory or not; somebody else is answered before and after."""
    with psycopg.connect(shop.url(database=_SHOP), autocommit=True) as other:
        assert other.execute("SELECT count(*) FROM orders").fetchone() == (110,)
        with psycopg.connect(shop.url(), autocommit=True) as conn, pytest.raises(psycopg.errors.OutOfMemory) as caught:
            conn.execute(sql)
        assert "more memory than one question may take" in str(caught.value)
        assert other.execute("SELECT count(*) FROM orders").fetchone() == (110,)
    assert memory_kb(shop, "VmHWM") < 3 << 20


def test_as_many_connections_as_pools_open_are_all_answered(shop: SqlServerProcess) -> None:
    """More than there are places and threads; who has a place does not wait behind those who have none."""
    import asyncpg

    async def ask() -> list[int]:
        async def one() -> int:
            conn = await asyncpg.connect(host=shop.host, port=shop.port, user="guest", database=_SHOP, timeout=60)
            try:
                return int(await conn.fetchval("SELECT 1"))
            finally:
                conn.terminate()

        return await asyncio.gather(*(one() for _ in range(_CONNECTIONS)))

    assert asyncio.run(ask()) == [1] * _CONNECTIONS


@pytest.mark.long
def test_a_question_is_cancelled_in_the_middle_of_its_rows(shop: SqlServerProcess) -> None:
    """The rest does not come, and the session goes on."""
    with psycopg.connect(shop.url(), autocommit=True) as conn:
        rows = conn.cursor().stream("SELECT i FROM range(10000000000) r(i)")
        next(rows)
        threading.Timer(0.2, conn.cancel).start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            for _ in rows:
                pass
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_who_does_not_read_keeps_out_nobody(shop: SqlServerProcess) -> None:
    """An answer that nobody takes stands in its place; another place is free, and memory does not grow."""
    with psycopg.connect(shop.url(), autocommit=True) as lazy, psycopg.connect(shop.url(), autocommit=True) as other:
        lazy.pgconn.send_query(b"SELECT repeat('x', 1000) FROM range(100000000)")
        lazy.pgconn.flush()
        before = memory_kb(shop, "VmRSS")
        for _ in range(5):
            assert other.execute("SELECT count(*) FROM range(1000)").fetchone() == (1000,)
        assert memory_kb(shop, "VmRSS") - before < 300 << 10
        lazy.close()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Cannot disable autocommit")
def test_short_questions_do_not_wait_behind_long_ones(shop: SqlServerProcess) -> None:
    """More long ones than there are places are under way, and all still are when the short ones are answered."""
    with ExitStack() as held:
        # Twice as many as places.
        long = [held.enter_context(closing(psycopg.connect(shop.url(), autocommit=True))) for _ in range(4)]
        for one in long:
            one.pgconn.send_query(b"SELECT repeat('x', 1000) FROM range(100000000)")
            one.pgconn.flush()
        with psycopg.connect(shop.url(database=_SHOP), autocommit=True) as other:
            other.execute("SET statement_timeout = '30s'")
            for sql in ("SELECT count(*) FROM orders", "SELECT item FROM orders WHERE id = 5", "SELECT 1"):
                assert other.execute(sql).fetchone() is not None
            assert other.execute("SELECT id FROM orders WHERE id = %s", [7], prepare=True).fetchone() == (7,)
        with flight_sql.connect(shop.flight) as conn, conn.cursor() as cursor:
            cursor.execute("SELECT 1 AS n")
            assert cursor.fetchall() == [(1,)]
        for one in long:
            one.pgconn.consume_input()
            assert one.info.transaction_status == TransactionStatus.ACTIVE


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"\0\0",
        struct.pack("!ii", 100, 196608) + b"user",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!ii", 1 << 30, 1),
    ],
)
def test_a_beginning_that_never_ends_hurts_nobody(shop: SqlServerProcess, begin: bytes) -> None:
    """Half a message, another protocol, a size that no message has."""
    with socket.create_connection((shop.host, shop.port)) as odd:
        odd.sendall(begin)
        with psycopg.connect(shop.url(), autocommit=True) as conn:
            assert conn.execute("SELECT 1").fetchone() == (1,)


def test_a_huge_message_ends_its_session(shop: SqlServerProcess) -> None:
    """Before it is read."""
    with psycopg.connect(shop.url(), autocommit=True) as conn:
        raw = socket.socket(fileno=os.dup(conn.pgconn.socket))
        with raw:
            raw.settimeout(10)
            raw.sendall(b"Q" + struct.pack("!i", 1 << 30))
            assert b"08P01" in raw.recv(4096)
