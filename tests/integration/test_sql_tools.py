"""`lakeward sql serve` as tools ask it: ODBC, ADBC's Postgres driver, node, Grafana, Metabase, Rails in few words.

Each was run by hand once; what they asked and did not get is here, in words of our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from sql_shop import sql_shop

import lakeward

pytestmark = pytest.mark.slow
_SHOP, _OTHER = "tooled_shop", "a_shop_before_it"


@pytest.fixture(scope="module")
def shop(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerProcess]:
    """One for all tests of this file. Another shop has tables of the same names, with other keys."""
    with lakeward.connect(server.bootstrap) as conn:
        conn.create_database(_OTHER)
        for name in ("orders", "clicks"):
            conn.create_table(f"{_OTHER}.{name}", "dt STRING, id BIGINT", primary_key=["dt", "id"])
        with sql_shop(server.bootstrap, tmp_path_factory.mktemp("shop"), _SHOP) as started:
            yield started
        conn.drop_database(_OTHER, cascade=True)


@pytest.fixture
def conn(shop: SqlServerProcess) -> Iterator[psycopg.Connection[Any]]:
    """A session, without a transaction."""
    with psycopg.connect(shop.url(database=_SHOP), autocommit=True) as made:
        yield made


_OF_ORDERS = "indrelid = 'orders'::regclass"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # The first column of a key has the place 0; an index has columns of its own (ODBC, Rails).
        (f"SELECT indkey, indkey[0] FROM pg_index WHERE {_OF_ORDERS}", [("1", 1)]),
        (
            (
                "SELECT a.attname FROM (SELECT indrelid, indkey, generate_subscripts(indkey, 1) AS n FROM pg_index "
                f"WHERE {_OF_ORDERS}) i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[i.n]"
            ),
            [("id",)],
        ),
        ("SELECT attname FROM pg_attribute WHERE attrelid = 'orders_pkey'::regclass", [("id",)]),
        # Types are known by the functions that read them (ADBC).
        (
            (
                "SELECT typname, typreceive FROM pg_type WHERE typreceive <> 0 AND typsend <> 0 "
                "AND typreceive::TEXT = 'numeric_recv'"
            ),
            [("numeric", "numeric_recv")],
        ),
        # Values of a series in a SELECT are rows (ODBC's foreign keys).
        (
            (
                "SELECT generate_series(array_lower(conkey, 1), 2) AS n FROM pg_constraint "
                "WHERE conrelid = 'orders'::regclass"
            ),
            [(1,), (2,)],
        ),
        # Names in quotes without a schema are of the catalog, too (Metabase).
        (
            (
                'SELECT "c"."relname" FROM "pg_class" AS "c" WHERE "c"."relkind" = \'r\' AND '
                'pg_table_is_visible("c"."oid") ORDER BY 1'
            ),
            [("clicks",), ("orders",)],
        ),
        ('SELECT count(*) FROM "pg_stat_user_tables"', [(0,)]),
        ("SELECT format('%I.%s', nspname, 'x') FROM pg_namespace WHERE nspname = 'public'", [("public.x",)]),
        # Where tables are looked for (Rails, Grafana).
        (
            (
                "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = ANY (current_schemas(false)) AND c.relkind = 'r'"
            ),
            [(2,)],
        ),
        (
            (
                "SELECT quote_ident(table_name) FROM information_schema.tables WHERE quote_ident(table_schema) IN ("
                "SELECT trim(s[i]) FROM generate_series(1, array_upper(string_to_array("
                "current_setting('search_path'), ','), 1)) AS i, "
                "string_to_array(current_setting('search_path'), ',') s) ORDER BY 1"
            ),
            [("clicks",), ("orders",)],
        ),
        (f"SELECT to_regclass('{_SHOP}.orders') IS NOT NULL, quote_ident('Ab')", [(True, '"Ab"')]),
        (f"SELECT to_regclass('orders') = '{_SHOP}.orders'::regclass, to_regclass('nothing')", [(True, None)]),
        # A table has a type of its rows (Prisma), and a database has a place (psql, to list it).
        ("SELECT count(*) FROM pg_class WHERE oid = 'orders'::regclass AND reltype > 0", [(1,)]),
        ("SELECT spcname FROM pg_database JOIN pg_tablespace t ON t.oid = dattablespace", [("pg_default",)]),
        # A replica has other rights (Prisma, pgAdmin).
        ("SELECT pg_is_in_recovery()", [(False,)]),
        (f"SELECT CAST('clicks' AS regclass) = '{_OTHER}.clicks'::regclass", [(False,)]),
        # A question around a question, by the names that the inner one was told by (Metabase, Superset).
        ('SELECT "source"."count" FROM (SELECT id > 0, count(*) FROM orders WHERE id = 5 GROUP BY 1) "source"', [(1,)]),
        ("SELECT to_char(\"at\", 'YYYY-MM-DD HH24:MI') FROM orders WHERE id = 5", [("2026-11-01 10:00",)]),
    ],
)
def test_questions_of_tools_are_answered(conn: psycopg.Connection[Any], sql: str, rows: list[Any]) -> None:
    """As Postgres answers them."""
    assert conn.execute(sql.encode()).fetchall() == rows


@pytest.mark.parametrize("binary", [False, True])
def test_days_and_moments_are_those_of_the_zone_of_a_session(conn: psycopg.Connection[Any], binary: bool) -> None:
    """Metabase, Django and JDBC set it; a row of the lake and one of the log."""
    conn.execute("SET TIME ZONE 'America/St_Johns'")
    sql = (
        "SELECT seen, date_trunc('day', seen), seen::date, extract(hour FROM seen)::int FROM orders "
        "WHERE id IN (5, 105) AND seen BETWEEN '2026-11-01 06:30' AND '2026-11-01 06:31'"
    )
    rows = conn.execute(sql, binary=binary).fetchall()  # summer time ended in the night
    expected = ["2026-11-01 06:30:00.120000-03:30", "2026-11-01 00:00:00-02:30", "2026-11-01", "6"]
    assert [[str(value) for value in row] for row in rows] == [expected] * 2
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="Nowhere"):
        conn.execute("SET TIME ZONE 'Nowhere'")
    conn.execute("RESET ALL")
    assert "+00:00" in str(conn.execute("SELECT date_trunc('day', seen) FROM orders WHERE id = 5").fetchall()[0][0])


def test_a_client_sets_what_it_likes_when_it_comes(shop: SqlServerProcess) -> None:
    """By `options`, as PGOPTIONS does; the database of a search path is where tables are looked for."""
    options = f"-c search_path={_OTHER} -c TimeZone=Europe/Berlin --statement-timeout=7s"
    with psycopg.connect(shop.url(database=_SHOP), options=options) as made:
        assert made.execute("SELECT count(*) FROM orders").fetchall() == [(0,)]
        assert made.execute("SHOW statement_timeout").fetchall() == [("7s",)]
        assert made.info.timezone.key == "Europe/Berlin"  # type: ignore[attr-defined]


def test_a_list_may_be_longer_than_the_server_takes(conn: psycopg.Connection[Any]) -> None:
    """Of a table that is all in the log, by which its batches are left out."""
    values = ",".join(map(str, range(0, 80_000, 2)))
    assert conn.execute(f"SELECT count(*) FROM clicks WHERE n IN ({values})".encode()).fetchall() == [(500,)]


def test_a_file_that_is_gone_is_named(conn: psycopg.Connection[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whoever asks is not told of files that they may not read."""
    for file in tmp_path_factory.getbasetemp().glob("shop*/lake/**/orders/data/**/*.parquet"):
        file.rename(file.with_suffix(".away"))
    try:
        with pytest.raises(psycopg.errors.SerializationFailure, match=r"was removed while it was read.*parquet"):
            conn.execute("SELECT sum(weight) FROM orders")
    finally:
        for file in tmp_path_factory.getbasetemp().glob("shop*/lake/**/orders/data/**/*.away"):
            file.rename(file.with_suffix(".parquet"))


@pytest.mark.parametrize(
    ("sql", "has", "lacks"),
    [
        ("SHOW TABLES", "orders", "tiering_status"),
        (f"SHOW TABLES FROM {_OTHER}", "clicks", "tiering_status"),
        ("SHOW DATABASES", _OTHER, "information_schema"),
        ("SHOW search_path", _SHOP, "orders"),
    ],
)
def test_people_ask_for_tables_as_they_know_it_from_elsewhere(
    conn: psycopg.Connection[Any], sql: str, has: str, lacks: str
) -> None:
    """Those of the database that they are in, or of another."""
    found = {row[0] for row in conn.execute(sql).fetchall()}
    assert has in found
    assert lacks not in found


def test_columns_are_called_as_postgres_calls_them(conn: psycopg.Connection[Any]) -> None:
    """Nothing of how it is answered shows in a name."""
    found = conn.execute("SELECT to_regclass('orders'), 'orders'::regclass, pg_size_pretty(pg_relation_size(1))")
    assert [column.name for column in found.description or ()] == ["to_regclass", "regclass", "pg_size_pretty"]


@pytest.mark.parametrize("prepare", [False, True])
def test_a_plan_is_one_column_of_lines(conn: psycopg.Connection[Any], prepare: bool) -> None:
    """By either protocol, as tools that draw plans expect."""
    found = conn.execute("EXPLAIN (VERBOSE, COSTS off) SELECT count(*) FROM orders", prepare=prepare)
    assert [column.name for column in found.description or ()] == ["QUERY PLAN"]
    assert any("READ_PARQUET" in line for (line,) in found.fetchall())


@pytest.mark.parametrize(
    "sql",
    [
        b"SELECT count(*) FROM orders WHERE id = ANY($1)",
        b"SELECT count(*) FROM orders WHERE id = ANY($1::int[])",
        b"SELECT 110 - count(*) FROM orders WHERE id <> ALL($1)",
    ],
)
def test_an_array_may_come_as_a_text_without_a_type(conn: psycopg.Connection[Any], sql: bytes) -> None:
    """As node sends it."""
    found = conn.pgconn.exec_params(sql, [b'{"1","2","3"}'])
    assert found.get_value(0, 0) == b"3", found.error_message


def test_decimals_are_written_with_all_their_digits(conn: psycopg.Connection[Any]) -> None:
    """Never with an exponent, which Postgres's do not have."""
    found = conn.pgconn.exec_(
        b"SELECT 0::DECIMAL(20, 9), -1e-7::DECIMAL(10, 7), NULL::DECIMAL(9, 8), [1e-8::DECIMAL(9, 8)]"
    )
    values = [found.get_value(0, n) for n in range(4)]
    assert values == [b"0.000000000", b"-0.0000001", None, b"{0.00000001}"]


def test_a_prepared_statement_is_let_go_of_by_sql(conn: psycopg.Connection[Any]) -> None:
    """Its name is free again; psycopg and ODBC do so, and there is a bound on how many there are."""
    for name in (b"p", b'"P 2"'):
        for _ in range(2):
            assert conn.pgconn.prepare(name.strip(b'"'), b"SELECT 1").status == ExecStatus.COMMAND_OK
            conn.execute(b"DEALLOCATE " + name)
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        conn.execute("DEALLOCATE p")
    conn.pgconn.prepare(b"p", b"SELECT 1")
    conn.execute("DEALLOCATE ALL")
    assert conn.pgconn.prepare(b"p", b"SELECT 1").status == ExecStatus.COMMAND_OK
