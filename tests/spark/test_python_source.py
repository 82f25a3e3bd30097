"""The data source `fluss` in Python, without the jar: bounded reads and writes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import plain_source
import pyarrow as pa
import pytest
from every_type import EVERY_TYPE, ROW_OF_EVERY_TYPE
from plain_source import NAME
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from server_process import ServerProcess

import lakeward as lw

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session of this process."""
    return plain_source.plain_session()


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lw.Connection]:
    """A connection of the test's own."""
    with lw.connect(server.bootstrap) as connection:
        yield connection


@pytest.fixture
def read(spark: SparkSession, server: ServerProcess) -> Any:
    """Read a table: `read("db.t", schema=…, **options)`."""

    def load(table: str, schema: str | None = None, **options: str) -> DataFrame:
        reader = spark.read.format(NAME).option("bootstrap.servers", server.bootstrap).options(**options)
        return (reader if schema is None else reader.schema(schema)).load(table)

    return load


@pytest.fixture
def write(server: ServerProcess) -> Any:
    """Write a DataFrame: `write(df, "db.t", mode="append", **options)`."""

    def save(df: DataFrame, table: str, mode: str = "append", **options: str) -> None:
        given = {"bootstrap.servers": server.bootstrap, **options}
        df.write.format(NAME).options(**given).mode(mode).save(table)

    return save


def test_every_type_is_read_as_it_was_written(conn: lw.Connection, database: str, read: Any) -> None:
    """What the client appends, Spark shows; what is NULL stays NULL."""
    table = conn.create_table(f"{database}.t", EVERY_TYPE, buckets=1)
    table.append([ROW_OF_EVERY_TYPE, dict.fromkeys(ROW_OF_EVERY_TYPE)])
    first, second = read(f"{database}.t").collect()
    shown = first.asDict(recursive=True)
    for name in ("ltz3", "ltz6", "ltz9"):  # Spark gives moments in the machine's zone
        shown[name] = shown[name].astimezone(dt.UTC)
    assert shown == ROW_OF_EVERY_TYPE
    assert set(second.asDict().values()) == {None}


def test_every_type_is_written_as_spark_has_it(conn: lw.Connection, database: str, read: Any, write: Any) -> None:
    """A table copied by Spark equals the original, NULLs included."""
    original = conn.create_table(f"{database}.a", EVERY_TYPE, buckets=1)
    original.append([ROW_OF_EVERY_TYPE, dict.fromkeys(ROW_OF_EVERY_TYPE)])
    copy = conn.create_table(f"{database}.b", EVERY_TYPE, buckets=1)
    write(read(f"{database}.a"), f"{database}.b")
    assert copy.scan().to_arrow().equals(original.scan().to_arrow())


def test_a_read_is_bounded_and_sees_all_buckets(conn: lw.Connection, database: str, read: Any) -> None:
    """Rows of all buckets and partitions, `count(*)` included."""
    table = conn.create_table(f"{database}.t", "id BIGINT, dt STRING", partition_by=["dt"], buckets=3)
    table.append({"id": list(range(1000)), "dt": [f"d{i % 4}" for i in range(1000)]})
    df = read(f"{database}.t")
    assert df.count() == 1000
    assert df.agg({"id": "sum"}).first()[0] == sum(range(1000))
    assert df.where("dt = 'd1' and id < 10").count() == 3


def test_a_schema_chooses_columns(conn: lw.Connection, database: str, read: Any) -> None:
    """Fewer columns in another order are all that is fetched."""
    conn.create_table(f"{database}.t", "a INT NOT NULL, b STRING, c DOUBLE").append([{"a": 1, "b": "x", "c": 0.5}])
    assert [tuple(r) for r in read(f"{database}.t", schema="c double, a int").collect()] == [(0.5, 1)]


@pytest.mark.parametrize("pushed", ["true", "false"])
def test_filters_give_the_same_rows_pushed_or_not(
    spark: SparkSession, conn: lw.Connection, database: str, read: Any, pushed: str
) -> None:
    """spark.sql.python.filterPushdown.enabled may be on or off."""
    table = conn.create_table(f"{database}.t", "id BIGINT, s STRING, dt STRING", partition_by=["dt"], buckets=1)
    table.append({"id": list(range(100)), "s": [f"s{i}" for i in range(100)], "dt": [f"d{i % 2}" for i in range(100)]})
    key = "spark.sql.python.filterPushdown.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, pushed)
    try:
        df = read(f"{database}.t")
        assert df.where("dt = 'd1' and id between 10 and 20").count() == 5
        assert df.where("s like 's1%' and id <> 1 and id is not null").count() == 10
        assert df.where("id in (1, 2, 500) or s = 's99'").count() == 3
        assert df.where("s is null").count() == 0
    finally:
        spark.conf.set(key, before)


def test_a_primary_key_table_is_read_as_it_is_and_as_it_came_to_be(
    conn: lw.Connection, database: str, read: Any
) -> None:
    """The plain name shows the state, $changelog the changes, $binlog before and after."""
    table = conn.create_table(f"{database}.t", "id BIGINT, n STRING", primary_key=["id"], buckets=1)
    table.upsert([{"id": 1, "n": "a"}, {"id": 2, "n": "b"}])
    table.upsert([{"id": 1, "n": "c"}])
    table.delete([2])
    assert [tuple(r) for r in read(f"{database}.t").collect()] == [(1, "c")]
    changes = read(f"{database}.t$changelog").orderBy("_log_offset").select("_change_type", "id", "n").collect()
    assert len(changes) == 5
    assert [r["id"] for r in changes] == [1, 2, 1, 1, 2]
    binlog = read(f"{database}.t$binlog").orderBy("_log_offset").select("before.n", "after.n").collect()
    assert [tuple(r) for r in binlog] == [(None, "a"), (None, "b"), ("a", "c"), ("b", None)]


def test_upsert_delete_and_partial_update(spark: SparkSession, conn: lw.Connection, database: str, write: Any) -> None:
    """A row replaces that of its key, a column can say what is deleted, named columns leave the others alone."""
    table = conn.create_table(f"{database}.t", "id BIGINT, n STRING, tier STRING", primary_key=["id"], buckets=2)
    write(spark.createDataFrame([(1, "a", "x"), (2, "b", "y")], "id long, n string, tier string"), f"{database}.t")
    write(spark.createDataFrame([(1, "gold")], "id long, tier string"), f"{database}.t", **{"sink.columns": "id,tier"})
    changes = spark.createDataFrame(
        [(2, None, None, "-D"), (3, "c", "z", "insert"), (1, "old", "old", "-U")],
        "id long, n string, tier string, op string",
    )
    write(changes, f"{database}.t", **{"sink.change-type-column": "op"})
    rows = sorted(table.snapshot().to_pylist(), key=lambda r: r["id"])
    assert rows == [{"id": 1, "n": "a", "tier": "gold"}, {"id": 3, "n": "c", "tier": "z"}]


def test_overwriting_replaces_partitions(spark: SparkSession, conn: lw.Connection, database: str, write: Any) -> None:
    """All of them, or with partitionOverwriteMode=dynamic those that rows go to."""
    table = conn.create_table(f"{database}.t", "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
    table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}])
    one = spark.createDataFrame([(3, "a")], "id long, dt string")
    write(one, f"{database}.t", mode="overwrite", partitionOverwriteMode="dynamic")
    assert sorted(r["id"] for r in table.scan().to_arrow().to_pylist()) == [2, 3]
    write(one, f"{database}.t", mode="overwrite")
    table.refresh()
    assert [r["id"] for r in table.scan().to_arrow().to_pylist()] == [3]


def test_tables_of_sparks_own_catalog_keep_their_options(
    spark: SparkSession, server: ServerProcess, conn: lw.Connection, database: str
) -> None:
    """CREATE TABLE … USING with OPTIONS works for reads, inserts and streams."""
    conn.create_table(f"{database}.t", "id BIGINT, s STRING", buckets=1)
    options = f"`bootstrap.servers` '{server.bootstrap}', `table` '{database}.t'"
    spark.sql(f"CREATE TABLE {database}_t USING {NAME} OPTIONS ({options})")
    try:
        spark.sql(f"INSERT INTO {database}_t VALUES (1, 'a'), (2, 'b')")
        assert spark.sql(f"SELECT count(*), max(id) FROM {database}_t").first() == (2, 2)
    finally:
        spark.sql(f"DROP TABLE {database}_t")


def test_a_large_write_goes_through_files(spark: SparkSession, conn: lw.Connection, database: str, write: Any) -> None:
    """More than fits into a task's message: rows are staged in files, appended, and the files are gone."""
    table = conn.create_table(f"{database}.t", "id BIGINT, s STRING", buckets=2)
    write(spark.range(100_000).selectExpr("id", "string(rand(7)) as s"), f"{database}.t")
    assert pa.compute.sum(table.scan(["id"]).to_arrow()["id"]).as_py() == sum(range(100_000))


def _refusal(action: Any) -> str:
    with pytest.raises(PySparkException) as refused:
        action()
    text = str(refused.value)
    assert "Traceback" not in text
    assert len(text) < 500, text
    return text


def test_bad_reads_are_told_in_a_sentence(conn: lw.Connection, database: str, read: Any) -> None:
    """Table, column and option are named, without a trace."""
    conn.create_table(f"{database}.t", "id BIGINT, s STRING")
    assert f"{database}.none" in _refusal(lambda: read(f"{database}.none"))
    assert "has no column 'x'; its columns are id, s" in _refusal(lambda: read(f"{database}.t", schema="x int").count())
    assert "is BIGINT" in _refusal(lambda: read(f"{database}.t", schema="id string").count())
    assert "did you mean 'scan.startup.mode'" in _refusal(lambda: read(f"{database}.t", **{"scan.startup.mod": "full"}))
    assert "no view" in _refusal(lambda: read(f"{database}.t$nothing"))


def test_bad_writes_are_told_in_a_sentence(spark: SparkSession, conn: lw.Connection, database: str, write: Any) -> None:
    """Before the first row is written where it can be known, and with the column where not."""
    conn.create_table(f"{database}.t", "id BIGINT NOT NULL, n INT", buckets=1)
    conn.create_table(f"{database}.k", "id BIGINT, n STRING", primary_key=["id"], buckets=1)
    one = spark.createDataFrame([(1, "x")], "id long, s string")
    assert "no column 's'" in _refusal(lambda: write(one, f"{database}.t"))
    assert "'n'" in _refusal(lambda: write(one.withColumnRenamed("s", "n"), f"{database}.t"))
    assert "sink.columns" in _refusal(lambda: write(one.select("id"), f"{database}.k"))
    assert "only partitions can be overwritten" in _refusal(
        lambda: write(one.selectExpr("id", "1 n"), f"{database}.t", mode="overwrite")
    )
    missing = spark.createDataFrame([(None, 1)], "id long, n int")
    assert "'id'" in _refusal(lambda: write(missing, f"{database}.t"))
    assert conn.table(f"{database}.t").count() == 0


def test_a_server_that_is_not_there_is_told_in_a_sentence(read: Any) -> None:
    """At planning: address and what went wrong, soon."""
    options = {"bootstrap.servers": "localhost:1", "client.connect-timeout": "2 s"}
    assert "localhost:1" in _refusal(lambda: read("a.b", **options))


def test_passwords_are_in_no_plan(conn: lw.Connection, database: str, read: Any, capsys: Any) -> None:
    """explain() in any form, and the schema's JSON, hide them; for logins see tests/integration/test_secrets.py."""
    conn.create_table(f"{database}.t", "id BIGINT")
    df = read(f"{database}.t", **{"lake.s3.secret-access-key": "hunter2"})
    df.explain(extended=True)
    df.explain(mode="formatted")
    assert "hunter2" not in capsys.readouterr().out + df.schema.json()
