"""Writes through the jar: append, upsert, delete, overwrite of partitions, streams; each row once."""

from __future__ import annotations

from pathlib import Path

import pytest
from every_type import EVERY_TYPE, ROW_OF_EVERY_TYPE
from pyspark.errors import AnalysisException, IllegalArgumentException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr
from server_process import ServerProcess

import lakeward as lw


def rows_of(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    """All rows, in order."""
    return sorted(tuple(row) for row in spark.table(table).collect())


def test_every_type_can_be_copied(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """INSERT … SELECT of every type gives the same rows, NULLs too."""
    table = conn.create_table(f"{database}.types", EVERY_TYPE)
    table.append([ROW_OF_EVERY_TYPE, dict.fromkeys(ROW_OF_EVERY_TYPE)])
    copy = conn.create_table(f"{database}.copy", EVERY_TYPE)
    spark.sql(f"INSERT INTO fluss.{database}.copy SELECT * FROM fluss.{database}.types")
    assert copy.scan().to_arrow().sort_by("i64").equals(table.scan().to_arrow().sort_by("i64"))


def test_many_rows_are_appended_once(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """A large append from several tasks; nothing is left in the staging directory."""
    conn.create_table(f"{database}.many", "id BIGINT, text STRING", buckets=3)
    spark.range(0, 300_000, 1, 4).withColumn("text", expr("repeat('x', 20)")).writeTo(f"fluss.{database}.many").append()
    assert conn.table(f"{database}.many").count() == 300_000
    assert spark.sql(f"SELECT count(DISTINCT id) FROM fluss.{database}.many").collect()[0][0] == 300_000


def test_a_table_is_made_from_a_query(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """CREATE TABLE … AS SELECT makes the columns and appends the rows."""
    spark.sql(
        f"CREATE TABLE fluss.{database}.made TBLPROPERTIES ('bucket.num'='2') AS SELECT id, 'x' AS s FROM range(5)"
    )
    assert conn.table(f"{database}.made").info.bucket_count == 2
    assert rows_of(spark, f"fluss.{database}.made") == [(i, "x") for i in range(5)]


def test_rows_of_a_primary_key_table_are_upserted(
    spark: SparkSession, server: ServerProcess, conn: lw.Connection, database: str
) -> None:
    """INSERT replaces rows by key; options name some columns, or a column that says what becomes of a row."""
    name = f"{database}.users"
    conn.create_table(name, "id INT, name STRING, tier STRING", primary_key=["id"], buckets=2)
    spark.sql(f"INSERT INTO fluss.{name} VALUES (1, 'a', 'x'), (2, 'b', 'x')")
    spark.sql(f"INSERT INTO fluss.{name} VALUES (1, 'c', 'y')")
    assert rows_of(spark, f"fluss.{name}") == [(1, "c", "y"), (2, "b", "x")]

    def save(df: object, option: str, value: str) -> None:
        writer = df.write.format("fluss").option("bootstrap.servers", server.bootstrap).option("table", name)
        writer.option(option, value).mode("append").save()

    save(spark.sql("SELECT 2 AS id, 'gold' AS tier"), "sink.columns", "id,tier")
    changes = spark.sql("SELECT 1 AS id, 'c' AS name, 'y' AS tier, '-D' AS op UNION ALL SELECT 3, 'n', 'z', '+I'")
    save(changes, "sink.change-type-column", "op")
    assert rows_of(spark, f"fluss.{name}") == [(2, "b", "gold"), (3, "n", "z")]


def test_partitions_are_overwritten(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """By name, by what the rows are in, or all of them; the others stay."""
    table = f"fluss.{database}.p"
    conn.create_table(f"{database}.p", "a INT, dt STRING", partition_by=["dt"], buckets=2)
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    spark.sql(f"INSERT OVERWRITE {table} PARTITION (dt = 'x') VALUES (10), (11)")
    assert rows_of(spark, table) == [(2, "y"), (3, "z"), (10, "x"), (11, "x")]
    spark.sql("SELECT 20 AS a, 'y' AS dt").writeTo(table).overwritePartitions()
    assert rows_of(spark, table) == [(3, "z"), (10, "x"), (11, "x"), (20, "y")]
    spark.sql("SELECT 30 AS a, 'w' AS dt").writeTo(table).overwrite(expr("dt IN ('x', 'y')"))
    assert rows_of(spark, table) == [(3, "z"), (30, "w")]
    spark.sql("SELECT 40 AS a, 'v' AS dt").write.mode("overwrite").insertInto(table)
    assert rows_of(spark, table) == [(40, "v")]


def test_what_cannot_be_overwritten_is_left_alone(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """A condition that is not about whole partitions: one sentence, no row lost."""
    conn.create_table(f"{database}.plain", "a INT").append({"a": [1]})
    conn.create_table(f"{database}.p", "a INT, dt STRING", partition_by=["dt"]).append({"a": [1], "dt": ["x"]})
    with pytest.raises(IllegalArgumentException, match="this table has none"):
        spark.sql("SELECT 2 AS a").writeTo(f"fluss.{database}.plain").overwrite(expr("a = 1"))
    with pytest.raises(IllegalArgumentException, match="only whole partitions"):
        spark.sql("SELECT 2 AS a, 'x' AS dt").writeTo(f"fluss.{database}.p").overwrite(expr("a = 1"))
    assert rows_of(spark, f"fluss.{database}.plain") == [(1,)]
    assert rows_of(spark, f"fluss.{database}.p") == [(1, "x")]


def test_partitions_that_a_lake_has_too_are_left_alone(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """Dropped here they would stay in the lake, and old rows come back beside the new ones."""
    lake = {"table.datalake.enabled": "true", "table.datalake.format": "iceberg"}
    conn.create_table(f"{database}.p", "a INT, dt STRING", partition_by=["dt"], properties=lake)
    conn.table(f"{database}.p").append({"a": [1], "dt": ["x"]})
    table = f"fluss.{database}.p"
    with pytest.raises(IllegalArgumentException, match="cannot be overwritten: it is tiered"):
        spark.sql(f"INSERT OVERWRITE {table} PARTITION (dt = 'x') VALUES (10)")
    with pytest.raises(IllegalArgumentException, match="cannot be overwritten: it is tiered"):
        spark.sql("SELECT 20 AS a, 'x' AS dt").writeTo(table).overwritePartitions()
    with pytest.raises(IllegalArgumentException, match="cannot be truncated: it is tiered"):
        spark.sql(f"TRUNCATE TABLE {table} PARTITION (dt = 'x')")
    assert conn.table(f"{database}.p").count() == 1


def test_rows_that_do_not_fit_are_refused(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """Wrong columns and types are refused before a row is written; a bad row fails its task with one sentence."""
    conn.create_table(f"{database}.t", "a INT NOT NULL, b STRING")
    with pytest.raises(AnalysisException, match="INSERT_COLUMN_ARITY_MISMATCH"):
        spark.sql(f"INSERT INTO fluss.{database}.t VALUES (1)")
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        spark.sql(f"INSERT INTO fluss.{database}.t VALUES ('a', 'b')")
    with pytest.raises(AnalysisException, match="does not support append"):
        spark.sql(f"INSERT INTO fluss.{database}.t$changelog SELECT * FROM fluss.{database}.t$changelog")
    assert spark.table(f"fluss.{database}.t").count() == 0


def test_an_aggregation_is_kept_up_to_date(
    spark: SparkSession, conn: lw.Connection, database: str, tmp_path: Path
) -> None:
    """A stream in update mode upserts into a primary key table, over a restart."""
    conn.create_table(f"{database}.events", "kind STRING, n INT", buckets=2)
    conn.create_table(f"{database}.totals", "kind STRING, total BIGINT", primary_key=["kind"], buckets=2)
    for n in (1, 10):
        conn.table(f"{database}.events").append({"kind": ["a", "b", "a"], "n": [n, n, n]})
        totals = spark.readStream.table(f"fluss.{database}.events").groupBy("kind").agg(expr("sum(n) AS total"))
        writer = totals.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "c"))
        writer.trigger(availableNow=True).toTable(f"fluss.{database}.totals").awaitTermination(200)
    assert rows_of(spark, f"fluss.{database}.totals") == [("a", 22), ("b", 11)]


def test_a_stream_in_complete_mode_is_refused(
    spark: SparkSession, conn: lw.Connection, database: str, tmp_path: Path
) -> None:
    """It replaces all rows with each micro-batch; appended, they would be there once for each."""
    conn.create_table(f"{database}.events", "kind STRING").append({"kind": ["a"]})
    conn.create_table(f"{database}.counts", "kind STRING, count BIGINT")
    counts = spark.readStream.table(f"fluss.{database}.events").groupBy("kind").count()
    writer = counts.writeStream.outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(StreamingQueryException, match="cannot be in complete mode, which replaces all rows"):
        writer.trigger(availableNow=True).toTable(f"fluss.{database}.counts").awaitTermination(200)
    assert conn.table(f"{database}.counts").count() == 0
