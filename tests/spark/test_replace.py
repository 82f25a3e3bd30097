"""Statements that replace: the old table, or its rows, go when every new row is there, and not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession

import lakeward as lw
from lakeward.client.staged import StagedWriter
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.spark.catalog import replacing
from lakeward.spark.catalog.replacing import fill, make_beside, rename, swap

Statement = Callable[[SparkSession, DataFrame, str], object]


def _replace_in_sql(spark: SparkSession, rows: DataFrame, table: str) -> None:
    rows.createOrReplaceTempView("new_rows")
    spark.sql(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM new_rows")


#: Every way by which Spark replaces a table.
STATEMENTS: dict[str, Statement] = {
    "CREATE OR REPLACE": _replace_in_sql,
    "saveAsTable": lambda _, rows, table: rows.write.mode("overwrite").saveAsTable(table),
    "createOrReplace": lambda _, rows, table: rows.writeTo(table).createOrReplace(),
    "replace": lambda _, rows, table: rows.writeTo(table).replace(),
}


@pytest.fixture
def old(conn: lw.Connection, database: str) -> str:
    """A table with one row."""
    conn.create_table(f"{database}.t", "id INT, name STRING").append({"id": [1], "name": ["old"]})
    return f"fluss.{database}.t"


def rows_of(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    """All rows, in order."""
    return sorted(tuple(row) for row in spark.table(table).collect())


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_table_is_replaced(spark: SparkSession, conn: lw.Connection, database: str, old: str, statement: str) -> None:
    """The new one has other columns and the new rows, and nothing is left beside it."""
    STATEMENTS[statement](spark, spark.range(0, 1000, 1, 3).selectExpr("id", "id * 2 AS twice"), old)
    assert rows_of(spark, old) == [(i, 2 * i) for i in range(1000)]
    assert conn.tables(database) == ["t"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_query_that_fails_leaves_the_old_table(
    spark: SparkSession, conn: lw.Connection, database: str, old: str, statement: str
) -> None:
    """An error half way through the rows: the old table is as it was, and nothing is left beside it."""
    bad = spark.range(0, 1000, 1, 2).selectExpr("CAST(IF(id = 900, raise_error('no'), id) AS BIGINT) AS id")
    with pytest.raises(Exception, match="no"):
        STATEMENTS[statement](spark, bad, old)
    assert rows_of(spark, old) == [(1, "old")]
    assert conn.tables(database) == ["t"]


def test_a_wrong_definition_leaves_the_old_table(
    spark: SparkSession, conn: lw.Connection, database: str, old: str
) -> None:
    """What the server refuses is refused before anything goes."""
    with pytest.raises(IllegalArgumentException, match="whole number above 0"):
        spark.sql(f"CREATE OR REPLACE TABLE {old} TBLPROPERTIES ('bucket.num' = '0') AS SELECT 2 AS id")
    with pytest.raises(IllegalArgumentException, match="USING parquet"):
        spark.sql(f"CREATE OR REPLACE TABLE {old} USING parquet AS SELECT 2 AS id")
    assert rows_of(spark, old) == [(1, "old")]
    assert conn.tables(database) == ["t"]


def test_replace_needs_something_to_replace(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """REPLACE of nothing is Spark's own error; CREATE OR REPLACE makes the table; a failed CREATE leaves none."""
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.range(3).writeTo(f"fluss.{database}.n").replace()
    with pytest.raises(Exception, match="no"):
        spark.sql(f"CREATE TABLE fluss.{database}.n AS SELECT CAST(raise_error('no') AS INT) AS a FROM range(2)")
    assert conn.tables(database) == []
    spark.range(3).writeTo(f"fluss.{database}.n").createOrReplace()
    assert conn.table(f"{database}.n").count() == 3


def test_a_table_is_replaced_without_rows(spark: SparkSession, conn: lw.Connection, database: str, old: str) -> None:
    """REPLACE TABLE with columns only: empty, with the key that was asked for."""
    spark.sql(f"REPLACE TABLE {old} (id INT NOT NULL, x STRING, PRIMARY KEY (id))")
    assert conn.table(f"{database}.t").info.schema.primary_key == ("id",)
    assert rows_of(spark, old) == []


def test_a_tiered_table_is_not_replaced(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """Its lake would keep the old rows under the same name."""
    lake = {"table.datalake.enabled": "true", "table.datalake.format": "iceberg"}
    conn.create_table(f"{database}.t", "id INT", properties=lake).append({"id": [1]})
    with pytest.raises(IllegalArgumentException, match="cannot be replaced: it is tiered"):
        spark.range(3).writeTo(f"fluss.{database}.t").createOrReplace()
    with pytest.raises(IllegalArgumentException, match="cannot be renamed: it is tiered"):
        spark.sql(f"ALTER TABLE fluss.{database}.t RENAME TO {database}.u")
    assert conn.table(f"{database}.t").count() == 1


def filled_beside(conn: lw.Connection, path: TablePath, staging: Path) -> tuple[TablePath, bytes]:
    """A table beside `path` with one new row, and the part that has it."""
    beside = make_beside(conn, path, conn.table(str(path)).info.descriptor).path
    writer = StagedWriter(conn, beside, staging=str(staging))
    writer.write(pa.table({"id": pa.array([7], pa.int32()), "name": ["new"]}))
    part = writer.finish()
    fill(conn, beside, [part], str(staging))
    return beside, part


def test_who_dies_between_leaves_the_new_rows(
    spark: SparkSession, conn: lw.Connection, database: str, old: str, tmp_path: Path
) -> None:
    """The old table is dropped and the new one not made: Spark says where its rows are, and a renaming brings them."""
    path = TablePath(database, "t")
    beside, _ = filled_beside(conn, path, tmp_path)
    conn.drop_table(str(path))
    with pytest.raises(IllegalArgumentException, match=f"ALTER TABLE {beside} RENAME TO {path}"):
        spark.table(old)
    spark.sql(f"ALTER TABLE fluss.{beside} RENAME TO {path}")
    assert rows_of(spark, old) == [(7, "new")]
    assert conn.tables(database) == ["t"]


def test_a_part_of_a_replaced_table_is_not_read_for_the_whole(
    spark: SparkSession,
    conn: lw.Connection,
    database: str,
    old: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who reads while rows go into the new table is told, and so is who reads after somebody died in it."""
    path = TablePath(database, "t")
    beside, part = filled_beside(conn, path, tmp_path)

    def check(*_: object, **__: object) -> None:
        with pytest.raises(IllegalArgumentException, match=f"{path} is being filled from {beside}"):
            spark.table(old).collect()
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error("the driver died")

    with monkeypatch.context() as patch:
        patch.setattr(replacing.StagedSink, "commit", check)
        with pytest.raises(lw.LakewardError, match="finishes the work"):
            swap(conn, path, beside, conn.table(str(beside)).info.descriptor, [part], str(tmp_path))
    with pytest.raises(lw.LakewardError, match=f"{path} is being filled from {beside}"):
        conn.sql(f"SELECT * FROM {path}")
    spark.sql(f"DROP TABLE {old}")
    spark.sql(f"ALTER TABLE fluss.{beside} RENAME TO {path}")
    assert rows_of(spark, old) == [(7, "new")]


def test_a_part_of_a_renamed_table_is_not_read_for_the_whole(
    conn: lw.Connection, database: str, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads the new name while rows are copied is told; when all are there, the mark goes."""
    before, after = TablePath(database, "t"), TablePath(database, "u")
    copy = replacing._copy

    def check(conn: lw.Connection, source: TablePath, target: TablePath) -> None:
        copy(conn, source, target)
        with pytest.raises(lw.LakewardError, match=f"{target} is being filled from {source}"):
            conn.sql(f"SELECT * FROM {target}")

    monkeypatch.setattr(replacing, "_copy", check)
    rename(conn, before, after)
    assert conn.sql(f"SELECT * FROM {after}").num_rows == 1
    assert conn.table(str(after)).info.descriptor.custom_properties == {}


def test_a_log_without_partitions_is_overwritten(
    spark: SparkSession, conn: lw.Connection, database: str, old: str
) -> None:
    """INSERT OVERWRITE gives the new rows with the old definition, columns that were added later too."""
    conn.alter_table(f"{database}.t", add_columns="more INT")
    spark.sql(f"INSERT OVERWRITE {old} SELECT 5, 'new', 6")
    assert rows_of(spark, old) == [(5, "new", 6)]
    with pytest.raises(Exception, match="no"):
        spark.sql(f"INSERT OVERWRITE {old} SELECT CAST(raise_error('no') AS INT), 'x', id FROM range(9)")
    assert rows_of(spark, old) == [(5, "new", 6)]
    assert conn.tables(database) == ["t"]


def test_a_primary_key_table_is_overwritten_in_place(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """New rows are put and the others deleted: the table stays the same one, and its changelog tells what happened."""
    name, table = f"{database}.users", f"fluss.{database}.users"
    made = conn.create_table(name, "id INT, name STRING", primary_key=["id"], buckets=2)
    made.upsert({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    spark.sql(f"INSERT OVERWRITE {table} VALUES (2, 'b'), (9, 'n')")
    assert rows_of(spark, table) == [(2, "b"), (9, "n")]
    assert conn.table(name).info.table_id == made.info.table_id
    changes = spark.sql(f"SELECT _change_type, id FROM {table}$changelog WHERE id IN (1, 3, 9)").collect()
    assert {("delete", 1), ("delete", 3), ("insert", 9)} <= {tuple(row) for row in changes}
    spark.sql(f"INSERT OVERWRITE {table} SELECT 1, 'x' FROM range(0)")
    assert rows_of(spark, table) == []


def test_partitions_of_a_primary_key_table_are_overwritten(
    spark: SparkSession, conn: lw.Connection, database: str
) -> None:
    """By name or by what the rows are in; rows of other partitions stay."""
    name, table = f"{database}.p", f"fluss.{database}.p"
    conn.create_table(name, "id INT, dt STRING, n INT", primary_key=["id", "dt"], partition_by=["dt"], buckets=2)
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x', 1), (2, 'x', 1), (1, 'y', 1), (1, 'z', 1)")
    spark.sql(f"INSERT OVERWRITE {table} PARTITION (dt = 'x') (id, n) VALUES (2, 2), (3, 2)")
    assert rows_of(spark, table) == [(1, "y", 1), (1, "z", 1), (2, "x", 2), (3, "x", 2)]
    spark.sql("SELECT 5 AS id, 'y' AS dt, 3 AS n").writeTo(table).overwritePartitions()
    assert rows_of(spark, table) == [(1, "z", 1), (2, "x", 2), (3, "x", 2), (5, "y", 3)]


def test_a_new_table_needs_no_format(spark: SparkSession, conn: lw.Connection, database: str, tmp_path: Path) -> None:
    """saveAsTable and toTable without a format make a table of ours."""
    spark.range(3).write.saveAsTable(f"fluss.{database}.saved")
    stream = spark.readStream.table(f"fluss.{database}.saved").writeStream.trigger(availableNow=True)
    stream.option("checkpointLocation", str(tmp_path)).toTable(f"fluss.{database}.streamed").awaitTermination(200)
    assert conn.table(f"{database}.saved").count() == conn.table(f"{database}.streamed").count() == 3
