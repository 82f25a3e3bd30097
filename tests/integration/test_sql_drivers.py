"""`lakeward sql serve` through the drivers and tools that people have: each at its first steps."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import subprocess
from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from sql_shop import MOMENT, order, sql_shop

import lakeward

pytestmark = pytest.mark.slow
_SHOP = "driven_shop"


@pytest.fixture(scope="module")
def shop(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerProcess]:
    """One for all tests of this file."""
    with sql_shop(server.bootstrap, tmp_path_factory.mktemp("shop"), _SHOP) as started:
        yield started


def test_psycopg2_reads_with_its_own_literals(shop: SqlServerProcess) -> None:
    """It puts values into the text by itself: bytes, lists, moments."""
    import psycopg2

    conn = psycopg2.connect(host=shop.host, port=shop.port, user="guest", dbname=_SHOP)
    with conn, conn.cursor() as cursor:
        cursor.execute("SELECT * FROM orders WHERE id = %s AND item = %s", (7, "item 7"))
        assert cursor.fetchall() == [tuple(order(7).values())]
        cursor.execute("SELECT count(*) FROM orders WHERE id IN %s AND seen < %s", ((1, 2, 3), MOMENT))
        assert cursor.fetchall() == [(0,)]
        cursor.execute("SELECT count(*) FROM clicks WHERE raw = %s", (b"\0xy",))
        assert cursor.fetchall() == [(1000,)]
    conn.close()


def test_cursors_by_name_hand_out_rows_in_parts(shop: SqlServerProcess) -> None:
    """psycopg2's and psycopg's, which DECLARE them; MOVE passes over rows, and nothing goes back."""
    import psycopg2

    old = psycopg2.connect(host=shop.host, port=shop.port, user="guest", dbname=_SHOP)
    with old, old.cursor("mine") as cursor:
        cursor.itersize = 100
        cursor.execute("SELECT n FROM clicks")
        assert sum(n for (n,) in cursor) == 499_500
    old.close()
    with psycopg.connect(shop.url(database=_SHOP)) as conn:
        with conn.cursor("his", binary=True) as cursor:
            cursor.execute("SELECT n FROM clicks ORDER BY n")
            assert cursor.fetchmany(2) == [(0,), (1,)]
            cursor.scroll(10)
            assert cursor.fetchone() == (12,)
        with conn.cursor("hers") as cursor:
            cursor.execute("SELECT n FROM clicks WHERE n BETWEEN %s AND %s ORDER BY n", (7, 8))
            assert cursor.fetchall() == [(7,), (8,)]
        conn.execute("DECLARE c CURSOR FOR SELECT 1")
        assert conn.execute("FETCH ALL FROM c").fetchall() == [(1,)]
        assert conn.execute("FETCH NEXT IN c").fetchall() == []
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="only scan forward"):
            conn.execute("FETCH PRIOR FROM c")
        conn.rollback()
        with pytest.raises(psycopg.errors.InvalidCursorName):
            conn.execute("FETCH 1 FROM c")


def test_copy_writes_text_csv_and_binary(shop: SqlServerProcess) -> None:
    """NULL, signs that mean something, a header, and the columns that are named."""
    asked = "SELECT n, page, 'a\"b,' || chr(9) || chr(10) || chr(92) AS odd FROM clicks WHERE n < 2 ORDER BY n"
    with psycopg.connect(shop.url(database=_SHOP), autocommit=True) as conn:
        assert _copied(conn, f"COPY ({asked}) TO STDOUT") == b'0\t\\N\ta"b,\\t\\n\\\\\n1\tp1\ta"b,\\t\\n\\\\\n'
        csv = _copied(conn, f"COPY ({asked}) TO STDOUT WITH (FORMAT csv, HEADER true, DELIMITER ';')")
        assert csv == b'n;page;odd\n0;;"a""b,\t\n\\"\n1;p1;"a""b,\t\n\\"\n'
        assert _copied(conn, "COPY orders (id, ok) TO STDOUT CSV HEADER").splitlines()[0] == b"id,ok"
        with conn.cursor().copy(
            "COPY (SELECT n, page FROM clicks WHERE n < 3 ORDER BY n) TO STDOUT (FORMAT binary)"
        ) as c:
            c.set_types(["int4", "text"])
            assert list(c.rows()) == [(0, None), (1, "p1"), (2, "p2")]
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            _copied(conn, "COPY orders TO STDOUT WITH (FREEZE)")


def _copied(conn: psycopg.Connection, sql: str) -> bytes:
    with conn.cursor().copy(sql) as rows:
        return b"".join(bytes(part) for part in rows)


def test_asyncpg_is_told_the_types_of_parameters(shop: SqlServerProcess) -> None:
    """It sends no value of another type than the server says; its pool resets each connection."""
    import asyncpg

    async def ask() -> None:
        async with asyncpg.create_pool(
            host=shop.host, port=shop.port, user="guest", database=_SHOP, min_size=1, max_size=3
        ) as pool:
            assert [tuple(row) for row in await pool.fetch("SELECT * FROM orders WHERE id = $1", 7)] == [
                tuple(order(7).values())
            ]
            where = 'price = $1 AND "at" = $2 AND seen = $3 AND day = $4 AND ok = $5 AND weight = $6'
            row = order(8)
            values = [row[name] for name in ("price", "at", "seen", "day", "ok", "weight")]
            assert await pool.fetchval(f"SELECT id FROM orders WHERE {where}", *values) == 8
            assert await pool.fetchval("SELECT count(*) FROM orders WHERE id = ANY($1::bigint[])", [1, 2, 3]) == 3
            found = await pool.fetch("SELECT n FROM clicks ORDER BY n LIMIT $1 OFFSET $2", 2, 5)
            assert [row["n"] for row in found] == [5, 6]
            assert list(found[0].keys()) == ["n"]
            assert list((await pool.fetchrow("SELECT count(*), max(n) FROM clicks")).keys()) == ["count", "max"]
            made = "SELECT $1::int + 1, price * $2::decimal(3, 1), $3 || 'x' FROM orders"
            assert tuple(await pool.fetchrow(made, 6, 0, "y")) == (7, 0, "yx")
            async with pool.acquire() as conn, conn.transaction():
                assert sum([row["n"] async for row in conn.cursor("SELECT n FROM clicks", prefetch=100)]) == 499_500
            out = io.BytesIO()
            async with pool.acquire() as conn:
                await conn.copy_from_query("SELECT id FROM orders WHERE id < 3", output=out, format="csv")
            assert sorted(out.getvalue().split()) == [b"0", b"1", b"2"]
            with pytest.raises(TimeoutError):
                await pool.fetch("SELECT count(*) FROM range(100000000000) a, range(1000) b", timeout=0.3)

    asyncio.run(ask())


def test_asyncpg_sees_a_column_that_came_under_a_prepared_statement(
    shop: SqlServerProcess, server: ServerProcess
) -> None:
    """It is told as Postgres tells it, and then prepares again; rows of another form would be garbage to it."""
    import asyncpg

    with lakeward.connect(server.bootstrap) as cluster:
        path = f"{_SHOP}.grows"
        cluster.create_table(path, "id INT").append([{"id": 7}])

        async def ask() -> list[int]:
            conn = await asyncpg.connect(host=shop.host, port=shop.port, user="guest", database=_SHOP)
            sizes = [len(await conn.fetchrow("SELECT * FROM grows"))]
            cluster.alter_table(path, add_columns={"more": "STRING"})
            sizes.append(len(await conn.fetchrow("SELECT * FROM grows")))
            await conn.close()
            return sizes

        try:
            assert asyncio.run(ask()) == [1, 2]
        finally:
            cluster.drop_table(path)


def test_pg8000_sends_values_apart(shop: SqlServerProcess) -> None:
    """In the extended protocol, as texts."""
    import pg8000.native

    conn = pg8000.native.Connection("guest", host=shop.host, port=shop.port, database=_SHOP)
    found = conn.run(
        'SELECT id, tags FROM orders WHERE id = :id AND "at" < :at LIMIT :n', id=3, at=dt.datetime.now(), n=1
    )
    assert found == [[3, ["a", "b c", None]]]
    conn.close()


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy_reflects_and_streams(shop: SqlServerProcess, driver: str) -> None:
    """Whatever driver is below it; a BI tool such as Superset asks the same."""
    import sqlalchemy as sa

    engine = sa.create_engine(shop.url(database=_SHOP).replace("://", f"+{driver}://", 1))
    found = sa.MetaData()
    found.reflect(engine)
    orders, looked = found.tables["orders"], sa.inspect(engine)
    assert [str(column.type) for column in orders.columns][:3] == ["BIGINT", "TEXT", "NUMERIC(10, 2)"]
    assert list(orders.primary_key.columns.keys()) == ["id"]
    assert looked.get_table_comment("clicks") == {"text": "who clicked"}
    assert (looked.get_view_names(), looked.get_foreign_keys("orders"), looked.has_table("nothing")) == ([], [], False)
    with engine.connect() as conn:
        some = sa.select(sa.func.count()).where(orders.c.at < sa.func.now(), orders.c.id.in_([1, 2]))
        assert conn.execute(some).scalar() == 2
        streamed = conn.execution_options(stream_results=True, max_row_buffer=100)
        assert sum(n for (n,) in streamed.execute(sa.text("SELECT n FROM clicks"))) == 499_500
    engine.dispose()


def test_duckdb_attaches_it_as_a_postgres(shop: SqlServerProcess) -> None:
    """It asks the catalog for tables, and copies rows in binary."""
    import duckdb
    from duckdb_extensions import import_extension

    import_extension("postgres_scanner")
    duck = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    duck.execute("LOAD postgres_scanner")
    where = f"host={shop.host} port={shop.port} user=guest dbname={_SHOP}"
    duck.execute(f"ATTACH '{where}' AS far (TYPE postgres, READ_ONLY)")
    assert duck.execute(f"SELECT count(*), sum(price) FROM far.{_SHOP}.orders").fetchall() == [
        (110, Decimal("6050.00"))
    ]
    assert duck.execute(f"SELECT sum(n), min(raw) FROM far.{_SHOP}.clicks WHERE n < 50").fetchall() == [(1225, b"\0xy")]
    duck.close()


@pytest.mark.parametrize(
    "command",
    r"d,d+ orders,d+ clicks,dt+,l+,dn+,df,dv,di,dp,du,dx,db,des,drds,ddp,dT,dconfig,dE,dP,z orders".split(","),  # noqa: SIM905
)
def test_psql_has_its_backslashes(shop: SqlServerProcess, command: str) -> None:
    """None of those that people type is an error."""
    assert shop.psql("-c", f"\\{command}", database=_SHOP) is not None


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT id FROM orders WHERE at > now()", 'quote it: "at"'),
        ("CREATE VIEW v AS SELECT 1", "cannot execute CREATE in a read-only transaction"),
        ("LISTEN news", "LISTEN is not done here"),
        ("SELECT current_setting('nothing')", "unrecognized configuration parameter"),
        ("DECLARE c CURSOR FOR SELECT 1", "can only be used in transaction blocks"),
    ],
)
def test_what_is_not_done_is_told(shop: SqlServerProcess, sql: str, told: str) -> None:
    """In a sentence that says what to do, or what this is."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        shop.psql("-c", sql, database=_SHOP)
    assert told in caught.value.stderr


def test_questions_about_the_session_are_answered(shop: SqlServerProcess) -> None:
    """By what it has set, not by DuckDB."""
    told = shop.psql(
        "-At",
        "-c",
        "SET search_path = x; SELECT current_setting('search_path'), current_setting('none', true) IS NULL, "
        "pg_database_size(current_database()), has_table_privilege('orders', 'insert')",
        database=_SHOP,
    )
    assert told.splitlines()[-1] == "x|t|0|f"
