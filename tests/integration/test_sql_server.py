"""`lakeward sql serve` through clients that never heard of us: psql and psycopg."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from server_process import ServerProcess
from sql_server_process import SqlServerProcess
from sql_shop import half_tiered_orders, order
from tiering_runs import Warehouse

from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.query.duckdb.question.streamed_sql import StreamedQuestion
from lakeward.query.plan import planner
from lakeward.sql_server.postgres.codec.sql_text import statements_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lake(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """One warehouse for all tests of this file."""
    opened = Warehouse(server.bootstrap, tmp_path_factory.mktemp("sql") / "lake", is_told=True)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def sql_server(server: ServerProcess, lake: Warehouse) -> Iterator[SqlServerProcess]:
    """One beside the server under test, which knows the warehouse."""
    log = lake.directory.with_name("sql.log")
    with SqlServerProcess(server.bootstrap, log, "--warehouse", str(lake.directory)) as started:
        yield started
    assert "Traceback" not in started.log_text, started.log_text[-8000:]


@pytest.fixture
def orders(lake: Warehouse, database: str) -> str:
    """A table of which some is in the lake, some in the log, and some changed after it was tiered."""
    half_tiered_orders(lake, database)
    return f"{database}.orders"


def test_psql_counts_a_union(sql_server: SqlServerProcess, orders: str) -> None:
    """Lake and log as one, in plain words."""
    assert sql_server.psql("-At", "-c", f"SELECT count(*), sum(id) FROM {orders}") == "110|5995\n"
    assert sql_server.psql("-At", "-c", f"SELECT count(*) FROM {orders} WHERE item = 'changed'") == "20\n"


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_has_the_values_in_either_form(sql_server: SqlServerProcess, orders: str, binary: bool) -> None:
    """Text and binary mean the same."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        found = conn.cursor(binary=binary).execute(f"SELECT * FROM {orders} WHERE id = %s", [7]).fetchone()
    assert found == tuple(order(7).values())


def test_parameters_of_every_kind(sql_server: SqlServerProcess, orders: str) -> None:
    """As the server's values, not as text of the question."""
    row = order(7)
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        for column in ("id", "item", "price", "at", "seen", "day", "weight"):
            asked = conn.execute(f'SELECT id FROM {orders} WHERE "{column}" = %s AND id = %b', [row[column], 7])
            assert asked.fetchall() == [(7,)], column
        assert conn.execute("SELECT %s::text", ["it's $1"]).fetchone() == ("it's $1",)
        assert conn.execute(f"SELECT count(*) FROM {orders} WHERE id = ANY(%s)", [[1, 2, 3]]).fetchone() == (3,)
        assert conn.execute("SELECT %s", [None]).fetchone() == (None,)


def test_a_question_is_cancelled(sql_server: SqlServerProcess) -> None:
    """By a request on another connection, as Ctrl-C in psql sends it."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        threading.Timer(0.5, conn.cancel).start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            conn.execute("SELECT count(*) FROM range(100000000000) a, range(1000) b")
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_a_question_has_a_time_limit(sql_server: SqlServerProcess) -> None:
    """That of the client, where it is shorter."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        conn.execute("SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            conn.execute("SELECT count(*) FROM range(100000000000) a, range(1000) b")


def test_transactions_are_accepted(sql_server: SqlServerProcess, orders: str) -> None:
    """They read; after an error nothing goes on but their end."""
    with psycopg.connect(sql_server.url()) as conn:
        assert conn.execute(f"SELECT count(*) FROM {orders}").fetchone() == (110,)
        with pytest.raises(psycopg.errors.UndefinedTable):
            conn.execute("SELECT * FROM nowhere.nothing")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            conn.execute("SELECT 1")
        conn.rollback()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            conn.execute(f"DELETE FROM {orders}")


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELEC 1", "42601"),
        ("SELECT nothing FROM {t}", "42703"),
        ("SELECT 'x'::int", "22P02"),
        ("SELECT 1e10::int", "22003"),
        ("SELECT '2026-13-01'::date", "22008"),
        ("SELECT sum('a')", "42883"),
        ("SELECT id, count(*) FROM {t}", "42803"),
        ("SELECT id FROM {t} UNION SELECT 1, 2", "42601"),
        ("SELECT 1::nothing", "42704"),
        ("SELECT (SELECT id FROM {t})", "21000"),
        ("SELECT * FROM read_csv('/etc/passwd')", "42000"),
        ("SELECT * FROM '/etc/passwd'", "42P01"),
        ("SELECT getenv('HOME')", "42000"),
        ("COPY {t} FROM STDIN", "25006"),
        ("SHOW nothing", "42704"),
    ],
)
def test_errors_have_the_letters_that_programs_know(
    sql_server: SqlServerProcess, orders: str, sql: str, state: str
) -> None:
    """Whatever is wrong, the session goes on."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(sql.format(t=orders))
        assert caught.value.sqlstate == state, caught.value
        assert conn.execute("SELECT 1").fetchone() == (1,)


def test_rows_come_in_parts(sql_server: SqlServerProcess, orders: str) -> None:
    """A portal that is asked for some rows at a time, and COPY."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        with conn.cursor().copy(f"COPY (SELECT id, item FROM {orders} WHERE id < 3 ORDER BY id) TO STDOUT") as copy:
            assert list(copy.rows()) == [("0", "item 0"), ("1", "item 1"), ("2", "item 2")]
        streamed = conn.cursor().stream("SELECT i FROM range(100000) r(i)")
        assert sum(row[0] for row in streamed) == 4999950000


def test_the_database_of_a_connection_is_where_tables_are_looked_for(
    sql_server: SqlServerProcess, orders: str, database: str
) -> None:
    """As `psql shop` would; an unknown one is refused."""
    assert sql_server.psql("-At", "-c", "SELECT count(*) FROM orders", database=database) == "110\n"
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(sql_server.url(database="nowhere"))


def test_psql_describes_what_there_is(sql_server: SqlServerProcess, orders: str, database: str) -> None:
    """The commands that begin with a backslash."""
    told = sql_server.psql("-c", f"\\d {orders}")
    assert "numeric(10,2)" in told
    assert "PRIMARY KEY, btree (id)" in told
    assert "orders" in sql_server.psql("-c", "\\dt", database=database)
    assert database in sql_server.psql("-c", "\\l", database=database)
    assert database in sql_server.psql("-c", "\\dn")


def test_sqlalchemy_reflects_tables(sql_server: SqlServerProcess, orders: str, database: str) -> None:
    """As a BI tool would."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(sql_server.url(database=database).replace("://", "+psycopg://", 1))
    with engine.connect() as conn:
        found = sqlalchemy.inspect(conn)
        assert found.get_table_names() == ["orders"]
        assert [column["name"] for column in found.get_columns("orders", schema=database)] == list(order(1))
        assert found.get_pk_constraint("orders", schema=database)["constrained_columns"] == ["id"]
        assert conn.execute(sqlalchemy.text(f"SELECT count(*) FROM {orders}")).scalar() == 110
    engine.dispose()


@pytest.mark.filterwarnings("ignore:Cannot disable autocommit")
def test_adbc_asks_by_flight_sql(sql_server: SqlServerProcess, orders: str, database: str) -> None:
    """Rows, parameters, metadata; errors carry no trace of ours."""
    import adbc_driver_flightsql.dbapi as flight_sql

    with flight_sql.connect(sql_server.flight) as conn, conn.cursor() as cursor:
        cursor.execute(f"SELECT count(*), sum(id) FROM {orders}")
        assert cursor.fetchall() == [(110, Decimal(5995))]
        cursor.execute(f"SELECT * FROM {orders} WHERE id = ? AND item = ?", (7, "item 7"))
        assert cursor.fetchall() == [tuple(order(7).values())]
        assert conn.adbc_get_table_schema("orders", db_schema_filter=database).names == list(order(1))
        assert conn.adbc_get_table_types() == ["TABLE"]
        assert conn.adbc_get_info()["vendor_name"] == "Lakeward"
        with pytest.raises(flight_sql.Error) as caught:
            cursor.execute("SELECT * FROM read_csv('/etc/passwd')")
        assert "Traceback" not in str(caught.value)
    login = {"username": "nobody", "password": "asks"}  # a password where none is wanted does no harm
    with flight_sql.connect(sql_server.flight, db_kwargs=login) as conn, conn.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {orders}")
        assert cursor.fetchall() == [(110,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM {}",
        "SELECT item, sum(price) AS total, max(seen) FROM {} GROUP BY item HAVING count(*) > 1 ORDER BY 2",
        "SELECT a.tags, b.*, a.id AS id FROM {} a JOIN {} b ON a.id = b.id WHERE a.day > '2026-01-01' LIMIT 1",
        "WITH x AS (SELECT avg(weight) AS w FROM {} GROUP BY ok) SELECT (SELECT max(w) FROM x), * FROM range(3)",
        "SELECT * FROM {}$changelog",
        "EXPLAIN SELECT id FROM {}",
        "DESCRIBE {}",
        "PIVOT {} ON ok USING count(*) GROUP BY day",
    ],
)
def test_a_question_is_described_without_a_read(
    lake: Warehouse, orders: str, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns are those of the answer. Only where rows make columns is anything planned."""
    asked = sql.replace("{}$changelog", f'{orders.partition(".")[0]}."orders$changelog"').replace("{}", orders)
    answer = StreamedQuestion(lake.conn, asked, DuckBounds()).open()
    answer.close()
    if not asked.startswith("PIVOT"):
        monkeypatch.setattr(planner, "_sees_lake", None)  # planning would fail
    shape = StreamedQuestion(lake.conn, asked, DuckBounds()).describe(statements_of(asked)[0])
    assert shape.columns == answer.schema


def test_what_is_described_is_not_done_yet(sql_server: SqlServerProcess, orders: str) -> None:
    """Rows have their columns, the end of a transaction has none and is still to come; what is wrong is told."""
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        wire = conn.pgconn
        wire.prepare(b"rows", f"SELECT id, item FROM {orders} WHERE id = $1".encode())
        shape = wire.describe_prepared(b"rows")
        assert [(shape.fname(n), shape.ftype(n)) for n in range(shape.nfields)] == [(b"id", 20), (b"item", 25)]
        conn.execute("BEGIN")
        wire.prepare(b"end", b"COMMIT")
        assert wire.describe_prepared(b"end").nfields == 0
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        wire.prepare(b"wrong", b"SELECT no_such_column FROM " + orders.encode())
        assert b"no_such_column" in wire.describe_prepared(b"wrong").error_message
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        assert wire.exec_prepared(b"end", []).command_status == b"ROLLBACK"


def test_a_small_engine_reads_splits_of_a_plan(sql_server: SqlServerProcess, orders: str) -> None:
    """In processes side by side, with the same rows as a question finds."""
    program = Path(__file__).parents[2] / "examples" / "plan_backend.py"
    command = [sys.executable, str(program), sql_server.http, orders, "id >= 95"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert told.splitlines()[-1] == "rows 15"


def test_garbage_ends_its_own_connection_alone(sql_server: SqlServerProcess) -> None:
    """Whatever comes, others are answered."""
    import socket

    for said in (b"", b"\0\0\0\4", b"\xff" * 64, b"GET / HTTP/1.1\r\n\r\n", b"\0\0\x7f\xff" + b"x" * 100):
        with socket.create_connection((sql_server.host, sql_server.port), timeout=10) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass
    with psycopg.connect(sql_server.url(), autocommit=True) as conn:
        assert conn.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/v1/plan", '{{"table": "{t}", "columns": ["nope"]}}', 400, "There is no column 'nope'"),
        ("/v1/plan", '{{"table": "{t}", "filter": "nope > 1"}}', 400, "There is no column 'nope'"),
        ("/v1/plan", '{{"table": "{t}", "colums": []}}', 400, "no key 'colums'"),
        ("/v1/plan", '{{"table": "{t}", "snapshot": 1}}', 404, "does not have snapshot 1"),
        ("/v1/plan", "nothing", 400, "no JSON"),
        ("/v2/plan", "{{}}", 404, "POST /v1/plan"),
    ],
)
def test_wrong_plans_are_refused_in_a_sentence(
    sql_server: SqlServerProcess, orders: str, path: str, body: str, status: int, told: str
) -> None:
    """As the page of the service has it."""
    import urllib.error
    import urllib.request

    asked = urllib.request.Request(f"{sql_server.http}{path}", body.format(t=orders).encode())
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(asked)
    assert caught.value.code == status
    assert told in caught.value.read().decode()
