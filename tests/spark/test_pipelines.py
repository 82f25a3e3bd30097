"""Pipelines on Spark: whole databases, by value."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventually import eventually
from guide_pipeline import GUIDE_PIPELINE
from kafka_broker import MockBroker
from lake_tables import read_by_duckdb
from mariadb import MariaDb
from postgres import Database
from server_process import ServerProcess

import lakeward as lw
from lakeward.pipelines.reading import read_pipelines
from lakeward.pipelines.status import PipelineState
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipeline_query import pipeline_session
from lakeward.spark.pipelines.run.pipelines import Pipelines
from lakeward.spark.pipelines.source import PipelineSource
from lakeward.spark.scripts.jobs.job_home import JobHome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
_PATIENCE_S = 180.0


class Bench:
    """Runs pipelines of a text, in this process."""

    def __init__(self, spark: SparkSession, state: Path) -> None:
        self._spark = spark
        self.home = PipelineHome(JobHome(state, "pipelines"))
        self.lines: list[str] = []
        self._started: list[Pipelines] = []

    def start(self, text: str, *, once: bool = False, **environment: str) -> Pipelines:
        """Begin them."""
        found = read_pipelines([("p.yaml", text)], environment)
        made = Pipelines(
            found, self.home, SystemClock(), once=once, write_line=self.lines.append, backoff=Backoff(0.2, 1.0)
        )
        made.start(self._spark)
        self._started.append(made)
        return made

    def once(self, text: str, **environment: str) -> Any:
        """Run one until it has taken all there is; its status."""
        [run] = self.start(text, once=True, **environment).runs
        assert run.await_end(_PATIENCE_S)
        assert run.status.state is PipelineState.FINISHED, run.status.error
        return run.status

    def close(self) -> None:
        """Stop all."""
        for made in self._started:
            made.stop(30)


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Iterator[Bench]:
    """A home of the test's own."""
    made = Bench(spark, tmp_path / "state")
    yield made
    made.close()


def _source(pg: Database, tables: str = r"public.\.*") -> str:
    given = {**pg.options, "password": "${PW}", "tables": tables}
    return "source:\n  type: postgres\n" + "".join(f"  {key}: '{value}'\n" for key, value in given.items())


def _rows(conn: lw.Connection, table: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in conn.table(table).snapshot().to_pylist())


def test_a_whole_database_goes_into_a_cluster(
    bench: Bench, pg: Database, conn: lw.Connection, server: ServerProcess
) -> None:
    """Keys of several columns, routes, transforms, a table without a key; then changes and ADD COLUMN; exactly."""
    space = f"p{uuid.uuid4().hex[:8]}"
    text = (
        _source(pg)
        + f"sink:\n  type: fluss\n  bootstrap.servers: {server.bootstrap}\n  database-name: {space}\n  bucket.num: 2\n"
        + f"""
route:
  - source-table: public.users
    sink-table: {space}.people
transform:
  - source-table: public.users
    projection: "*, upper(name) AS loud, CAST(price AS INT) AS whole"
    filter: price < 900
pipeline:
  name: whole-{space}
  parallelism: 2
"""
    )
    with pg.connect() as db:
        db.execute("CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(10, 2))")
        db.execute("ALTER TABLE users REPLICA IDENTITY FULL")
        db.execute("COMMENT ON COLUMN users.name IS 'who'")
        db.execute("CREATE TABLE lines (o INT, n INT, item TEXT, PRIMARY KEY (o, n))")
        db.execute("CREATE TABLE events (what TEXT)")
        db.execute("ALTER TABLE events REPLICA IDENTITY FULL")
        db.execute("INSERT INTO users SELECT i, 'u' || i, i * 100 FROM generate_series(1, 12) i")
        db.execute("INSERT INTO lines SELECT i / 10, i % 10, 'it' || i FROM generate_series(1, 30) i")
        db.execute("INSERT INTO events VALUES ('a'), ('b')")
        status = bench.once(text, PW=pg.options["password"])
        assert {(t.source, t.rows, t.phase) for t in status.tables} == {
            ("public.users", 12, "streaming"),
            ("public.lines", 30, "streaming"),
            ("public.events", 2, "streaming"),
        }
        people = conn.table(f"{space}.people").info
        assert [f"{c.name} {c.type}" for c in people.schema.columns] == [
            "id BIGINT NOT NULL", "name STRING", "price DECIMAL(10, 2)", "loud STRING", "whole INT",
        ]  # fmt: skip
        assert people.schema.column("name").comment == "who"
        assert people.bucket_count == 2
        assert [row[0] for row in _rows(conn, f"{space}.people")] == list(range(1, 9))
        assert len(_rows(conn, f"{space}.lines")) == 30

        db.execute("UPDATE users SET price = 950 WHERE id = 1")  # out of the filter
        db.execute("UPDATE users SET price = 50 WHERE id = 12")  # into it
        db.execute("UPDATE users SET id = 20 WHERE id = 2")
        db.execute("DELETE FROM users WHERE id = 3")
        db.execute("ALTER TABLE users ADD COLUMN age INT")
        db.execute("INSERT INTO users VALUES (30, 'new', 7.5, 33)")
        db.execute("UPDATE lines SET n = 99 WHERE o = 1 AND n = 1")
        db.execute("ALTER TABLE lines ADD COLUMN q INT")
        db.execute("CREATE TABLE later (id INT PRIMARY KEY)")  # not in the publication when its rows come
        db.execute("INSERT INTO later SELECT generate_series(1, 50)")
        db.execute("UPDATE lines SET q = 7 WHERE o = 2 AND n = 2")
        db.execute("INSERT INTO events VALUES ('c')")
        bench.once(text, PW=pg.options["password"])
        assert [row[0] for row in _rows(conn, f"{space}.later")] == list(range(1, 51))
        wanted = db.execute("SELECT id, name, price, upper(name), trunc(price)::int, age FROM users WHERE price < 900")
        assert _rows(conn, f"{space}.people") == sorted(wanted.fetchall())
        wanted = db.execute("SELECT o, n, item, q FROM lines")
        assert _rows(conn, f"{space}.lines") == sorted(wanted.fetchall())
        events = conn.table(f"{space}.events").scan().to_arrow()
        assert sorted(events.column("what").to_pylist()) == ["a", "b", "c"]


@pytest.mark.long
def test_one_that_fails_waits_and_the_others_go_on(bench: Bench, pg: Database) -> None:
    """A wrong password is told in the status, without the password; `stop` of another process ends the other one."""
    name = uuid.uuid4().hex[:8]
    good = _source(pg) + f"sink: {{type: print, print.identifier: seen}}\npipeline: {{name: good-{name}}}\n"
    bad = _source(pg).replace("${PW}", "${WRONG}") + f"sink: {{type: print}}\npipeline: {{name: bad-{name}}}\n"
    with pg.connect() as db:
        db.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
        db.execute("INSERT INTO t VALUES (1, 'a')")
        bench.start(f"{good}---\n{bad}", PW=pg.options["password"], WRONG="not-the-word")
        _await(lambda: "seen> public.t +I[1, a]" in bench.lines)
        _await(lambda: _status(bench, f"bad-{name}").restarts >= 2)
        failed = _status(bench, f"bad-{name}")
        assert failed.state in {PipelineState.WAITING, PipelineState.RUNNING, PipelineState.STARTING}
        assert "password" in str(failed.error)
        assert "not-the-word" not in str(failed.error)
        db.execute("UPDATE t SET name = 'b' WHERE id = 1")
        _await(lambda: "seen> public.t +U[1, b]" in bench.lines)
    assert _status(bench, f"good-{name}").state is PipelineState.RUNNING
    bench.home.places.ask_to_stop(f"good-{name}")
    _await(lambda: _status(bench, f"good-{name}").state is PipelineState.STOPPED)


@pytest.mark.long
def test_one_that_must_not_evolve_says_the_same_each_time(bench: Bench, pg: Database, tmp_path: Path) -> None:
    """The statement's table, why, and what to do: also when it is tried again, and the table has its new type."""
    name = f"strict-{uuid.uuid4().hex[:8]}"
    text = (
        f"{_source(pg)}sink: {{type: iceberg, warehouse: {tmp_path}/lake}}\n"
        f"pipeline: {{name: {name}, schema.change.behavior: evolve}}\n"
    )
    with pg.connect() as db:
        db.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
        db.execute("INSERT INTO t VALUES (1, 1)")
        bench.start(text, PW=pg.options["password"])
        _await(lambda: _status(bench, name).rows == 1)
        db.execute("ALTER TABLE t ALTER COLUMN a TYPE BIGINT")
        db.execute("INSERT INTO t VALUES (2, 2)")
        for restarts in (1, 3):
            _await(lambda restarts=restarts: _status(bench, name).restarts >= restarts)  # type: ignore[misc]
            error = str(_status(bench, name).error)
            assert "The pipeline stops here: column a is BIGINT now, which INT of public.t cannot hold." in error


def test_iceberg_and_kafka_get_the_same_changes(bench: Bench, pg: Database, tmp_path: Path) -> None:
    """Read by those who never heard of us: DuckDB, and a plain consumer; again after changes and a new start."""
    broker, name = MockBroker(), uuid.uuid4().hex[:8]
    ice = f"sink: {{type: iceberg, warehouse: {tmp_path}/lake, database-name: ods}}\npipeline: {{name: ice-{name}}}\n"
    kafka = (
        f"sink: {{type: kafka, properties.bootstrap.servers: '{broker.bootstrap}', value.format: debezium-json, "
        f"delivery.guarantee: at-least-once}}\npipeline: {{name: kafka-{name}}}\n"
    )
    text = f"{_source(pg)}{ice}---\n{_source(pg)}{kafka}"
    with pg.connect() as db:
        db.execute("CREATE TABLE lines (o INT, n INT, item TEXT, PRIMARY KEY (o, n))")
        db.execute("INSERT INTO lines SELECT i / 10, i % 10, 'it' || i FROM generate_series(1, 30) i")
        _finish(bench.start(text, once=True, PW=pg.options["password"]))
        assert _in_duckdb(tmp_path / "lake", "ods.lines") == sorted(db.execute("SELECT * FROM lines").fetchall())
        db.execute("UPDATE lines SET item = 'x' WHERE o = 1")
        db.execute("UPDATE lines SET n = 99 WHERE o = 2 AND n = 2")
        db.execute("DELETE FROM lines WHERE o = 0")
        db.execute("ALTER TABLE lines ADD COLUMN q INT")
        db.execute("INSERT INTO lines VALUES (7, 7, 'new', 5)")
        _finish(bench.start(text, once=True, PW=pg.options["password"]))
        wanted = sorted(db.execute("SELECT * FROM lines").fetchall())
        assert _in_duckdb(tmp_path / "lake", "ods.lines") == wanted
        state: dict[Any, Any] = {}
        for message in broker.messages("public.lines"):
            value = json.loads(message.value())
            state[message.key()] = value["after"]
        left = sorted(tuple(row.values()) for row in state.values() if row is not None)
        assert [row[:3] for row in left] == [row[:3] for row in wanted]
        assert state[b'{"o":7,"n":7}'] == {"o": 7, "n": 7, "item": "new", "q": 5}
    broker.stop()


def _finish(pipelines: Pipelines) -> None:
    for run in pipelines.runs:
        assert run.await_end(_PATIENCE_S)
        assert run.status.state is PipelineState.FINISHED, run.status.error


def _in_duckdb(warehouse: Path, table: str) -> list[tuple[Any, ...]]:
    hidden = ("__bucket", "__offset", "__timestamp")
    rows = read_by_duckdb(warehouse, table)
    return sorted(tuple(value for name, value in row.items() if name not in hidden) for row in rows)


@pytest.mark.long
def test_the_guides_pipeline_as_it_stands(
    bench: Bench, mariadb: MariaDb, conn: lw.Connection, server: ServerProcess
) -> None:
    """Block 24 with the addresses of this test, against a MariaDB; changes follow."""
    text = GUIDE_PIPELINE
    user, password = mariadb.options["username"], mariadb.options["password"]
    for old, new in (
        ("mysql-host", "127.0.0.1"),
        ("3306", mariadb.options["port"]),
        ("username: root", f"username: {user}"),
        ("password: password", f'password: "{password}"'),
        ("fluss-server:9123", server.bootstrap),
    ):
        text = text.replace(old, new)
    mariadb.execute(
        "CREATE DATABASE IF NOT EXISTS mydb",
        "DROP TABLE IF EXISTS mydb.users",
        "CREATE TABLE mydb.users (id INT PRIMARY KEY, name VARCHAR(40) COMMENT 'who', born DATE) COMMENT 'people'",
        "INSERT INTO mydb.users VALUES (1, 'a', '2001-02-03'), (2, 'b', NULL)",
    )
    bench.once(text)
    assert conn.table("analytics.users").info.descriptor.comment == "people"
    mariadb.execute(
        "UPDATE mydb.users SET name = 'c' WHERE id = 2",
        "UPDATE mydb.users SET id = 3 WHERE id = 1",
        "ALTER TABLE mydb.users ADD COLUMN age INT",
        "INSERT INTO mydb.users VALUES (4, 'd', NULL, 44)",
    )
    bench.once(text)
    assert _rows(conn, "analytics.users") == sorted(mariadb.query("SELECT id, name, born, age FROM mydb.users"))


def _status(bench: Bench, name: str) -> Any:
    return bench.home.status(name)


def _await(holds: Callable[[], bool]) -> None:
    assert eventually(holds, within_s=_PATIENCE_S)


def test_spark_shows_no_password(spark: SparkSession) -> None:
    """Neither in a plan nor in what its pages show of one."""
    text = (
        "source: {type: postgres, hostname: h, username: u, password: '${PW}', database-name: d, tables: public.t}\n"
        "sink: {type: print}\n"
    )
    [definition] = read_pipelines([("p.yaml", text)], {"PW": "tell-nobody"})
    frame = PipelineSource(definition).stream(pipeline_session(spark, definition))
    plan = frame._jdf.queryExecution()
    assert "tell-nobody" not in f"{plan.toString()} {plan.analyzed().toJSON()} {frame}"
