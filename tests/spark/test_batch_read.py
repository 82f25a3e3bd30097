"""Bounded reads through the jar: types, pruning, push-down, counts, views."""

from __future__ import annotations

import pytest
from every_type import EVERY_TYPE, ROW_OF_EVERY_TYPE
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from server_process import ServerProcess
from spark_reads import explained

import lakeward as lw


@pytest.fixture
def orders(conn: lw.Connection, database: str) -> str:
    """A thousand rows in two partitions of two buckets."""
    table = conn.create_table(
        f"{database}.orders", "id BIGINT, item STRING, amount DOUBLE, dt STRING", partition_by=["dt"], buckets=2
    )
    for dt, first in (("2026-11-01", 0), ("2026-11-02", 500)):
        ids = list(range(first, first + 500))
        items = [None if i % 100 == 0 else f"item {i % 7}" for i in ids]
        table.append({"id": ids, "item": items, "amount": [i / 2 for i in ids], "dt": [dt] * 500})
    return f"fluss.{database}.orders"


def test_every_type_arrives_as_it_was_written(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """A row of every type, and one of NULLs, through Arrow into Spark's rows."""
    conn.create_table(f"{database}.types", EVERY_TYPE).append([ROW_OF_EVERY_TYPE, dict.fromkeys(ROW_OF_EVERY_TYPE)])
    first, second = spark.table(f"fluss.{database}.types").orderBy("i64", ascending=False).toArrow().to_pylist()
    expected = {**ROW_OF_EVERY_TYPE, "m": list(ROW_OF_EVERY_TYPE["m"].items())}
    assert first == expected
    assert set(second.values()) == {None}


def test_only_chosen_columns_and_partitions_are_read(spark: SparkSession, orders: str) -> None:
    """Columns, filters and partitions are pruned, and EXPLAIN says so; the answer is as without."""
    df = spark.table(orders).where("dt >= '2026-11-02' AND id % 2 = 0").select("id")
    assert sorted(row.id for row in df.collect()) == list(range(500, 1000, 2))
    text = explained(df)
    assert "1 of 2 partitions" in text
    assert "2 of 4 columns" in text
    assert "dt >= '2026-11-02'" in text


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("id = 7", 1),
        ("7 > id", 7),
        ("id IN (1, 2, 5000)", 2),
        ("item IS NULL", 10),
        ("item LIKE 'item 3%' AND amount < 10.5", 3),
        ("NOT (id < 990 OR item = 'item 3')", 8),
        ("item <=> NULL", 10),
        ("amount = CAST('NaN' AS DOUBLE)", 0),
        ("length(item) > 3", 990),
    ],
)
def test_filters_change_nothing_but_the_work(spark: SparkSession, orders: str, condition: str, count: int) -> None:
    """Whatever can be pushed is pushed, and the rows are those that Spark would have chosen."""
    assert spark.table(orders).where(condition).count() == count


def test_counting_reads_no_columns(spark: SparkSession, conn: lw.Connection, orders: str, database: str) -> None:
    """count(*) is right for logs, keys and views, with zero columns asked for."""
    conn.create_table(f"{database}.users", "id INT, name STRING", primary_key=["id"], buckets=2).upsert(
        {"id": [1, 2, 3, 1], "name": ["a", "b", "c", "d"]}
    )
    assert spark.table(orders).count() == 1000
    assert spark.table(f"fluss.{database}.users").count() == 3
    assert spark.table(f"fluss.{database}.users$changelog").count() >= 3
    assert "0 of 4 columns" in explained(spark.table(orders).groupBy().count())


def test_a_limit_ends_the_read_early(spark: SparkSession, orders: str) -> None:
    """LIMIT is pushed, and what was left unread does not disturb the next read."""
    for _ in range(3):
        assert len(spark.table(orders).limit(3).collect()) == 3
        assert spark.table(orders).count() == 1000
    assert "limit 3" in explained(spark.table(orders).limit(3))


def test_a_primary_key_table_is_read_as_it_is_now(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """The current state, the changelog and the binlog of the same table."""
    table = conn.create_table(f"{database}.users", "id INT, name STRING", primary_key=["id"], buckets=1)
    table.upsert({"id": [1, 2], "name": ["a", "b"]})
    table.upsert({"id": [1], "name": ["c"]})
    table.delete({"id": [2]})
    name = f"fluss.{database}.users"
    assert [tuple(row) for row in spark.table(name).collect()] == [(1, "c")]
    changes = spark.table(f"{name}$changelog").orderBy("_log_offset").select("_change_type", "id", "name").collect()
    assert [tuple(row) for row in changes] == [
        ("insert", 1, "a"),
        ("insert", 2, "b"),
        ("update_before", 1, "a"),
        ("update_after", 1, "c"),
        ("delete", 2, "b"),
    ]
    binlog = spark.sql(f"SELECT before.name AS b, after.name AS a FROM {name}$binlog ORDER BY _log_offset").collect()
    assert [tuple(row) for row in binlog][-2:] == [("a", "c"), ("b", None)]


def test_small_tables_are_broadcast(spark: SparkSession, conn: lw.Connection, orders: str, database: str) -> None:
    """The number of rows is told to Spark, which joins small tables without a shuffle."""
    conn.create_table(f"{database}.items", "item STRING, price INT").append({"item": ["item 1"], "price": [5]})
    joined = spark.table(orders).join(spark.table(f"fluss.{database}.items"), "item")
    assert "BroadcastHashJoin" in explained(joined)
    assert joined.count() == spark.table(orders).where("item = 'item 1'").count()


def test_the_source_reads_by_options(spark: SparkSession, server: ServerProcess, orders: str) -> None:
    """format("fluss") of the jar prunes as the catalog does; the Python source of that name is not in its way."""
    reader = spark.read.format("fluss").option("bootstrap.servers", server.bootstrap)
    df = reader.load(orders.removeprefix("fluss.")).where("id < 10").select("id")
    assert sorted(row.id for row in df.collect()) == list(range(10))
    assert "fluss" in explained(df)
    assert "(Python)" not in explained(df)
    with pytest.raises(IllegalArgumentException, match="did you mean"):
        spark.read.option("scan.split.rowz", "1").table(orders).collect()


def test_empty_tables_have_no_rows(spark: SparkSession, conn: lw.Connection, database: str) -> None:
    """A table without rows, without partitions, or with filters that leave nothing."""
    conn.create_table(f"{database}.none", "a INT, dt STRING", partition_by=["dt"])
    df = spark.table(f"fluss.{database}.none")
    assert df.collect() == []
    assert df.count() == 0
