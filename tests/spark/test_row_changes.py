"""DELETE, UPDATE, MERGE and TRUNCATE of primary key tables; what they cannot do is said in one sentence."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession
from server_process import ServerProcess

import lakeward as lw


@pytest.fixture
def users(spark: SparkSession, conn: lw.Connection, database: str) -> str:
    """A primary key table with three rows."""
    columns = "id INT, region STRING, name STRING NOT NULL, tier STRING"
    conn.create_table(f"{database}.users", columns, primary_key=["id", "region"], buckets=2)
    spark.sql(
        f"INSERT INTO fluss.{database}.users VALUES (1, 'eu', 'a', 'x'), (2, 'eu', 'b', 'x'), (1, 'us', 'c', NULL)"
    )
    return f"fluss.{database}.users"


def rows_of(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    """All rows, in order of their keys."""
    return sorted((tuple(row) for row in spark.table(table).collect()), key=lambda row: row[:2])


def test_rows_are_deleted(spark: SparkSession, users: str) -> None:
    """By any condition, with a subquery too; nothing else goes."""
    spark.sql(f"DELETE FROM {users} WHERE name = 'b'")
    assert rows_of(spark, users) == [(1, "eu", "a", "x"), (1, "us", "c", None)]
    spark.sql(f"DELETE FROM {users} WHERE id IN (SELECT max(id) FROM {users}) AND tier IS NULL")
    assert rows_of(spark, users) == [(1, "eu", "a", "x")]
    spark.sql(f"DELETE FROM {users} WHERE id = 77")
    assert rows_of(spark, users) == [(1, "eu", "a", "x")]


def test_rows_are_updated(spark: SparkSession, conn: lw.Connection, database: str, users: str) -> None:
    """Only those of the condition, each one as an update in the changelog; the key stays."""
    spark.sql(f"UPDATE {users} SET tier = upper(name), name = 'new' WHERE id = 1")
    assert rows_of(spark, users) == [(1, "eu", "new", "A"), (1, "us", "new", "C"), (2, "eu", "b", "x")]
    kinds = conn.table(f"{database}.users").changelog().to_arrow()["_change_type"].to_pylist()
    assert sorted(kinds) == ["+I"] * 3 + ["+U"] * 2 + ["-U"] * 2
    with pytest.raises(IllegalArgumentException, match="'region' is in the primary key"):
        spark.sql(f"UPDATE {users} SET region = 'asia' WHERE id = 2")
    assert rows_of(spark, users)[2] == (2, "eu", "b", "x")


def test_rows_are_merged(spark: SparkSession, users: str) -> None:
    """Matched rows are updated or deleted, others inserted, those of the target that nobody names deleted if asked."""
    changes = "SELECT * FROM VALUES (1, 'eu', 'A'), (1, 'us', 'drop'), (5, 'eu', 'E') AS v(id, region, name)"
    spark.sql(f"""
        MERGE INTO {users} t USING ({changes}) s ON t.id = s.id AND t.region = s.region
        WHEN MATCHED AND s.name = 'drop' THEN DELETE
        WHEN MATCHED THEN UPDATE SET name = s.name
        WHEN NOT MATCHED THEN INSERT (id, region, name) VALUES (s.id, s.region, s.name)
    """)
    assert rows_of(spark, users) == [(1, "eu", "A", "x"), (2, "eu", "b", "x"), (5, "eu", "E", None)]
    spark.sql(f"""
        MERGE INTO {users} t USING (SELECT 5 AS id) s ON t.id = s.id
        WHEN NOT MATCHED BY SOURCE THEN DELETE
    """)
    assert rows_of(spark, users) == [(5, "eu", "E", None)]


def test_a_key_that_is_deleted_and_inserted_by_one_merge_is_there(spark: SparkSession, users: str) -> None:
    """Whatever tasks do it: all deletes come before all rows."""
    spark.sql(f"""
        MERGE INTO {users} t USING (SELECT 'b' AS name, 2 AS id UNION ALL SELECT 'zzz', 2) s ON t.name = s.name
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED THEN INSERT (id, region, name) VALUES (s.id, 'eu', s.name)
    """)
    assert rows_of(spark, users)[-1] == (2, "eu", "zzz", None)


def test_a_table_is_truncated(spark: SparkSession, conn: lw.Connection, database: str, users: str) -> None:
    """TRUNCATE, and DELETE without a condition: no rows, the same table."""
    before = conn.table(f"{database}.users").info.table_id
    spark.sql(f"TRUNCATE TABLE {users}")
    assert rows_of(spark, users) == []
    spark.sql(f"INSERT INTO {users} VALUES (1, 'eu', 'a', 'x')")
    spark.sql(f"DELETE FROM {users}")
    assert rows_of(spark, users) == []
    assert conn.table(f"{database}.users").info.table_id == before


def test_some_columns_are_a_partial_update(
    spark: SparkSession, server: ServerProcess, conn: lw.Connection, database: str
) -> None:
    """INSERT INTO t (id, name), BY NAME, and a DataFrame with fewer columns: the others keep their values."""
    table = f"fluss.{database}.t"
    conn.create_table(f"{database}.t", "id INT, name STRING, tier STRING", primary_key=["id"])
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    spark.sql(f"INSERT INTO {table} (ID, name) VALUES (1, 'z'), (3, 'new')")
    assert rows_of(spark, table) == [(1, "z", "x"), (2, "b", "y"), (3, "new", None)]
    spark.sql(f"INSERT INTO {table} BY NAME SELECT 'gold' AS tier, 2 AS id")
    spark.sql("SELECT 3 AS id, 'silver' AS tier").writeTo(table).append()
    assert rows_of(spark, table) == [(1, "z", "x"), (2, "b", "gold"), (3, "new", "silver")]
    some = spark.sql("SELECT 1 AS id, 'q' AS name").write.mode("append")
    some.format("fluss").option("bootstrap.servers", server.bootstrap).option("table", f"{database}.t").save()
    spark.sql("SELECT 2 AS id, 'w' AS name").write.mode("append").saveAsTable(table)
    assert rows_of(spark, table)[:2] == [(1, "q", "x"), (2, "w", "gold")]
    with pytest.raises(IllegalArgumentException, match="cannot be overwritten by some of their columns"):
        spark.sql(f"INSERT OVERWRITE {table} (id, name) VALUES (1, 'new')")
    with pytest.raises(AnalysisException, match="CANNOT_FIND_DATA"):
        spark.sql(f"INSERT INTO {table} (name) VALUES ('nobody')")
    assert len(rows_of(spark, table)) == 3


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM {t} WHERE a = 1", "DELETE is for tables with a primary key"),
        ("UPDATE {t} SET a = 2", "UPDATE is for tables with a primary key"),
        (
            "MERGE INTO {t} USING (SELECT 1 AS a) s ON {t}.a = s.a WHEN MATCHED THEN DELETE",
            "MERGE is for tables with a primary key",
        ),
        ("TRUNCATE TABLE {t}", "TRUNCATE, or DELETE of all rows, is for tables with a primary key"),
        ("DELETE FROM {t}$changelog WHERE a = 1", "is a view of table"),
    ],
)
def test_rows_of_a_log_cannot_be_changed(
    spark: SparkSession, conn: lw.Connection, database: str, statement: str, sentence: str
) -> None:
    """A log is only appended to: one sentence, no row lost."""
    conn.create_table(f"{database}.t", "a INT").append({"a": [1]})
    with pytest.raises(IllegalArgumentException, match=sentence) as refused:
        spark.sql(statement.format(t=f"fluss.{database}.t"))
    assert "\n" not in str(refused.value)
    assert spark.table(f"fluss.{database}.t").count() == 1


def test_a_merge_engine_has_its_own_mind(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """What would change nothing in a first_row table, or not what it says, is refused."""
    conn.create_table(
        f"{database}.t", "id INT, n INT", primary_key=["id"], properties={"table.merge-engine": "first_row"}
    ).upsert({"id": [1], "n": [1]})
    with pytest.raises(IllegalArgumentException, match="merge engine 'first_row'"):
        spark.sql(f"UPDATE fluss.{database}.t SET n = 2")
    with pytest.raises(IllegalArgumentException, match="merge engine 'first_row'"):
        spark.sql(f"INSERT OVERWRITE fluss.{database}.t VALUES (2, 2)")
    for statement in ("DELETE FROM {t} WHERE id = 1", "DELETE FROM {t}", "TRUNCATE TABLE {t}"):
        with pytest.raises(IllegalArgumentException, match="takes no deletes"):
            spark.sql(statement.format(t=f"fluss.{database}.t"))
    assert conn.table(f"{database}.t").lookup([1, 2]).to_pylist()[0]["n"] == 1


@pytest.mark.parametrize("behavior", ["IGNORE", "DISABLE"])
def test_rows_that_cannot_go_are_not_overwritten(
    spark: SparkSession, conn: lw.Connection, database: str, behavior: str
) -> None:
    """Before a new row is there: half an overwriting would be worse than none."""
    properties = {"table.delete.behavior": behavior}
    users = conn.create_table(f"{database}.t", "id INT, n INT", primary_key=["id"], properties=properties)
    users.upsert({"id": [1], "n": [1]})
    with pytest.raises(IllegalArgumentException, match="takes no deletes"):
        spark.sql(f"INSERT OVERWRITE fluss.{database}.t VALUES (2, 2)")
    assert users.count() == 1
