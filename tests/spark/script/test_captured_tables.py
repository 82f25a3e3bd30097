"""Tables of databases in scripts: copied into tables of the cluster, counted, and followed over restarts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres import Database, Postgres
from script_bench import Bench

from lakeward.language.place import ScriptError


@pytest.fixture(scope="module")
def pg() -> Iterator[Database]:
    """A database with orders, whose changes say what was before."""
    with Postgres() as server, server.new_database() as database, database.connect() as connection:
        connection.execute(
            "CREATE TABLE orders (id bigint PRIMARY KEY, user_id int, amount numeric(10,2), note text);"
            "ALTER TABLE orders REPLICA IDENTITY FULL;"
            "CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL)"
        )
        yield database


def _options(pg: Database, table: str, **more: str) -> str:
    options = {"connector": "postgres-cdc", **pg.options, "table-name": table, **more}
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


def test_a_table_is_copied_counted_and_followed(bench: Bench, pg: Database) -> None:
    """Upserts and deletes arrive, sums take back what was changed, a job that is run again goes on where it was."""
    with pg.connect() as connection:
        connection.execute("INSERT INTO orders SELECT n, n % 3, n, 'x' FROM generate_series(1, 30) n")
        connection.execute("INSERT INTO users VALUES (0, 'Ada'), (1, 'Ben'), (2, 'Cy')")
    tables = (
        "CREATE TEMPORARY TABLE pg_orders (id BIGINT, user_id INT, amount DECIMAL(12, 2), space STRING METADATA FROM"
        f" 'schema_name', PRIMARY KEY (id) NOT ENFORCED) WITH ({_options(pg, 'orders')});"
        "CREATE TEMPORARY TABLE pg_users (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH"
        f" ({_options(pg, 'users')});"
        "CREATE TABLE IF NOT EXISTS orders (id BIGINT, user_id INT, amount DECIMAL(12, 2), space STRING,"
        " PRIMARY KEY (id) NOT ENFORCED);"
        "CREATE TABLE IF NOT EXISTS users (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED);"
        "CREATE TABLE IF NOT EXISTS totals (user_id INT, total DECIMAL(22, 2), n BIGINT, PRIMARY KEY (user_id) NOT"
        " ENFORCED);"
    )
    jobs = (
        "INSERT INTO orders SELECT * FROM pg_orders; INSERT INTO users SELECT * FROM pg_users;"
        "INSERT INTO totals SELECT user_id, SUM(amount), COUNT(*) FROM pg_orders /*+ OPTIONS('slot.name'='totals') */"
        " GROUP BY user_id;"
    )
    bench.run(tables + jobs)

    def check() -> None:
        with pg.connect() as connection:
            rows = connection.execute("SELECT id, user_id, amount, 'public' FROM orders").fetchall()
            users = connection.execute("SELECT * FROM users").fetchall()
            sums = connection.execute("SELECT user_id, sum(amount), count(*) FROM orders GROUP BY user_id").fetchall()
        assert bench.table("orders") == sorted(rows, key=repr)
        assert bench.table("users") == sorted(users, key=repr)
        assert bench.table("totals") == sorted(sums, key=repr)

    check()
    with pg.connect() as connection:
        connection.execute("UPDATE orders SET user_id = 1, amount = amount + 0.5 WHERE id < 5")
        connection.execute("UPDATE orders SET id = id + 100 WHERE id = 7")
        connection.execute("DELETE FROM orders WHERE user_id = 2")
        connection.execute("UPDATE users SET name = 'Bea' WHERE id = 1")
        connection.execute("DELETE FROM users WHERE id = 2")
    bench.settle()
    check()
    bench.restart()
    with pg.connect() as connection:
        connection.execute("INSERT INTO orders VALUES (500, 0, 1000, NULL)")
        connection.execute("DELETE FROM orders WHERE id = 1")
    bench.run(tables + jobs)
    check()


@pytest.mark.long
def test_a_snapshot_ends_and_a_batch_reads_what_is_there(bench: Bench, pg: Database) -> None:
    """The mode `snapshot` is a job that finishes; in batch mode there is no job at all."""
    with pg.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS few (id int PRIMARY KEY, n int)")
        connection.execute("INSERT INTO few VALUES (1, 10), (2, 20)")
    bench.script.run(
        "CREATE TEMPORARY TABLE pg_few (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH"
        f" ({_options(pg, 'few', **{'scan.startup.mode': 'snapshot'})}); CREATE TABLE log (id INT, n BIGINT);"
    )
    assert bench.table("pg_few") == [(1, 10), (2, 20)]
    (outcome,) = bench.script.run("INSERT INTO log SELECT id, n FROM pg_few")
    assert outcome.job is not None
    outcome.job.await_end()
    assert bench.table("log") == [(1, 10), (2, 20)]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("id INT, user_id INT", "column 'id' is bigint there, BIGINT, and INT here: declare it BIGINT"),
        ("id BIGINT, nam STRING", "there is no column 'nam' there"),
        ("id BIGINT, at TIMESTAMP(3) METADATA FROM 'op_ts'", "there is no METADATA 'op_ts'"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_runs(bench: Bench, pg: Database, columns: str, said: str) -> None:
    """Types, names and metadata, each with a sentence."""
    with pytest.raises(ScriptError, match=said):
        bench.script.run(
            f"CREATE TEMPORARY TABLE wrong ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ({_options(pg, 'orders')});"
            "SELECT * FROM wrong"
        )


def test_a_captured_table_cannot_be_written(bench: Bench, pg: Database) -> None:
    """It says where to write instead."""
    with pytest.raises(ScriptError, match="cannot be written: the connector 'postgres-cdc' reads"):
        bench.script.run(
            "CREATE TEMPORARY TABLE pg_users (id INT, name STRING) WITH"
            f" ({_options(pg, 'users')}); INSERT INTO pg_users VALUES (1, 'x')"
        )
