"""Databases as streams of Spark: copied while they change, followed, restarted; every row by value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mariadb import MariaDb, mariadb_or_skip
from postgres import Database, Postgres

import lakeward as lw
from lakeward.capture.envelope import open_envelope
from lakeward.capture.port import SchemaChange, TableRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

CHUNK = "scan.incremental.snapshot.chunk.size"
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def server_of_rows() -> Iterator[Postgres]:
    """One PostgreSQL for this file."""
    with Postgres() as server:
        yield server


@pytest.fixture
def pg(server_of_rows: Postgres) -> Iterator[Database]:
    """An empty database."""
    with server_of_rows.new_database() as database:
        yield database


@pytest.fixture(scope="module")
def maria() -> Iterator[MariaDb]:
    """One MariaDB for this file, where there is one."""
    with mariadb_or_skip() as server:
        yield server


class Pair:
    """A database, and how a test speaks to it: both kinds in the same words."""

    def __init__(self, source: Database | MariaDb) -> None:
        self._source = source
        self.format = "lakeward.postgres" if isinstance(source, Database) else "lakeward.mysql"
        if isinstance(source, MariaDb):
            source.execute("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop")
        self.options = dict(source.options)
        if isinstance(source, MariaDb):
            self.options["database-name"] = "shop"

    def run(self, *statements: str) -> None:
        if isinstance(self._source, MariaDb):
            self._source.execute(*statements, database="shop")
            return
        with self._source.connect() as connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self, query: str) -> Rows:
        if isinstance(self._source, MariaDb):
            return sorted(self._source.query(query, database="shop"))
        with self._source.connect() as connection:
            return sorted(connection.execute(query).fetchall())

    def make_pairs(self, rows: int) -> None:
        """A table with a key of two columns, whose changes say what was before."""
        self.run("CREATE TABLE pairs (a INT, b VARCHAR(20), n INT, PRIMARY KEY (a, b))")
        if isinstance(self._source, Database):
            self.run("ALTER TABLE pairs REPLICA IDENTITY FULL")
        values = ", ".join(f"({n % 7}, 'b{n}', {n})" for n in range(rows))
        self.run(f"INSERT INTO pairs VALUES {values}")

    def stream(self, spark: SparkSession, table: str, **more: str) -> DataFrame:
        options = {**self.options, "table-name": table, **more}
        return spark.readStream.format(self.format).options(**options).load()


@pytest.fixture(params=["postgres", "mariadb"])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Each kind of database."""
    return Pair(request.getfixturevalue("pg" if request.param == "postgres" else "maria"))


def run_now(frame: DataFrame, checkpoint: Path, target: str, **options: str) -> Any:
    """Write what there is now, exactly once."""
    writer = frame.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.options(**{"sink.change-type-column": "_change_type", **options}).toTable(target)
    query.awaitTermination()
    assert query.exception() is None
    return query


@pytest.mark.covering("postgres")
def test_a_table_is_copied_and_followed_over_restarts(
    spark: SparkSession, conn: lw.Connection, pair: Pair, tmp_path: Path
) -> None:
    """Keys of two columns, updates of keys, deletes; each run goes on where the last one stopped."""
    pair.make_pairs(1000)
    conn.create_database("captured", exist_ok=True)
    conn.drop_table("captured.pairs", missing_ok=True)
    conn.create_table("captured.pairs", {"a": "int", "b": "string", "n": "int"}, primary_key=["a", "b"])
    frame = pair.stream(spark, "pairs", **{CHUNK: "150", "maxRowsPerTrigger": "400", "scan.parallelism": "2"})
    assert frame.schema.simpleString() == "struct<_change_type:string,a:int,b:string,n:int>"

    def check() -> None:
        found = spark.table("fluss.captured.pairs").collect()
        assert sorted(map(tuple, found)) == pair.rows("SELECT a, b, n FROM pairs")

    query = run_now(frame, tmp_path / "c", "fluss.captured.pairs")
    assert sum(progress["numInputRows"] for progress in query.recentProgress) == 1000
    check()
    pair.run(
        "UPDATE pairs SET n = n + 1 WHERE a = 3",
        "DELETE FROM pairs WHERE a = 4",
        "UPDATE pairs SET b = concat('moved ', b) WHERE a = 5",
        "UPDATE pairs SET a = a + 100, n = -n WHERE a = 6",
        "INSERT INTO pairs VALUES (9, 'new', 1)",
        "UPDATE pairs SET n = 2 WHERE a = 9",
        "DELETE FROM pairs WHERE a = 9",
    )
    run_now(frame, tmp_path / "c", "fluss.captured.pairs")
    check()
    query = run_now(frame, tmp_path / "c", "fluss.captured.pairs")
    assert sum(progress["numInputRows"] for progress in query.recentProgress) == 0
    conn.drop_table("captured.pairs")


@pytest.mark.covering("postgres")
def test_envelopes_bring_many_tables_and_what_happens_to_them(spark: SparkSession, pair: Pair, tmp_path: Path) -> None:
    """Rows of two tables, a new column, a new table; each event opens by itself."""
    pair.make_pairs(50)
    pair.run("CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO users VALUES (1, 'Ada')")
    frame = pair.stream(spark, "pairs|users|later", form="envelopes", **{CHUNK: "20"})
    assert frame.columns == ["table", "kind", "rows", "committed_ms", "payload"]
    taken: list[Row] = []

    def run() -> list[Row]:
        taken.clear()
        writer = frame.writeStream.foreachBatch(lambda batch, _: taken.extend(batch.collect()))
        writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
        return taken

    space = "public" if pair.format.endswith("postgres") else "shop"
    copied = run()
    assert {row["table"] for row in copied} == {f"{space}.pairs", f"{space}.users"}
    assert sum(row["rows"] for row in copied) == 51
    pair.run(
        "ALTER TABLE users ADD COLUMN town VARCHAR(20)",
        "INSERT INTO users VALUES (2, 'Ben', 'Graz')",
        "DELETE FROM pairs WHERE n = 7",
    )
    events = [open_envelope(row["kind"], bytes(row["payload"]), row["committed_ms"]) for row in run()]
    (altered,) = [event for event in events if isinstance(event, SchemaChange)]
    assert altered.after is not None
    assert altered.after.schema.names == ("id", "name", "town")
    changes = {str(event.table.id): event for event in events if isinstance(event, TableRows)}
    assert changes[f"{space}.users"].rows.to_pylist() == [{"id": 2, "name": "Ben", "town": "Graz"}]
    gone = changes[f"{space}.pairs"]
    assert gone.rows.to_pylist() == [{"a": 0, "b": "b7", "n": 7}]
    assert gone.kinds.to_pylist() == [4]
    assert gone.committed_ms is not None


def test_a_read_has_the_rows_as_they_are_now(spark: SparkSession, pair: Pair) -> None:
    """Without a stream, a slot, or anything that stays behind; the columns that were asked for."""
    pair.make_pairs(500)
    options = {**pair.options, "table-name": "pairs", CHUNK: "100"}
    frame = spark.read.format(pair.format).options(**options).load()
    assert sorted((row["a"], row["b"], row["n"]) for row in frame.collect()) == pair.rows("SELECT a, b, n FROM pairs")
    chosen = spark.read.format(pair.format).options(**options).schema("n BIGINT").load()
    assert chosen.agg({"n": "sum"}).collect()[0][0] == sum(range(500))
    if pair.format.endswith("postgres"):
        assert pair.rows("SELECT slot_name FROM pg_replication_slots WHERE database = current_database()") == []


def test_secrets_are_in_no_plan_and_in_no_error(
    spark: SparkSession, pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in what Spark prints nor in what it raises; the sentence says what is wrong."""
    from pyspark.errors import PySparkException

    pair.make_pairs(1)
    options = {**pair.options, "table-name": "pairs", "password": "wrong-secret"}
    frame = spark.readStream.format(pair.format).options(**options).schema("_change_type STRING, a INT").load()
    frame.explain("extended")
    plans = capsys.readouterr().out + repr(frame)
    assert pair.format in plans
    assert "wrong-secret" not in plans
    for wrong, said in (
        ({"password": "wrong-secret"}, "password"),
        ({"table-name": "absent"}, "absent"),
        ({"hostnam": "x"}, "'hostname'"),
        ({"scan.startup.mode": "timestamp"}, "is not possible"),
    ):
        with pytest.raises(PySparkException, match=said) as caught:
            pair.stream(spark, "pairs", **wrong)
        assert "wrong-secret" not in str(caught.value)
        assert "Traceback" not in str(caught.value)
