"""Watermarks and windows are Spark's own; this is how they are used on a table, late rows included."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import plain_source
import pytest
from plain_source import STREAMS_NAME
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from server_process import ServerProcess

import lakeward as lw

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session of this process."""
    return plain_source.plain_session()


@pytest.fixture
def orders(server: ServerProcess, database: str) -> Iterator[lw.Table]:
    """A table of orders with the time at which each was made."""
    with lw.connect(server.bootstrap) as conn:
        yield conn.create_table(f"{database}.orders", "at TIMESTAMP_LTZ(3), item_id BIGINT, amount INT", buckets=1)


@pytest.fixture
def stream(spark: SparkSession, server: ServerProcess, orders: lw.Table) -> DataFrame:
    """The orders as they come."""
    return spark.readStream.format(STREAMS_NAME).option("bootstrap.servers", server.bootstrap).load(str(orders.path))


def _order(minute: int, item_id: int, amount: int) -> dict[str, Any]:
    return {"at": dt.datetime(2026, 11, 1, 12, minute, tzinfo=dt.UTC), "item_id": item_id, "amount": amount}


def _closed(spark: SparkSession, name: str, *keys: str) -> list[tuple[Any, ...]]:
    minute = f.minute("window.start").alias("from")
    return sorted(map(tuple, spark.table(name).select(minute, *keys, "sum", "n").collect()), key=str)


def _amounts(grouped: Any) -> DataFrame:
    made: DataFrame = grouped.agg(f.sum("amount").alias("sum"), f.count("*").alias("n"))
    return made


def test_windows_close_when_the_watermark_has_passed_and_late_rows_are_left_out(
    spark: SparkSession, orders: lw.Table, stream: DataFrame, database: str
) -> None:
    """Tumbling windows of ten minutes that wait ten minutes for rows that come late."""
    name = f"windows_{database}"
    per_window = _amounts(stream.withWatermark("at", "10 minutes").groupBy(f.window("at", "10 minutes"), "item_id"))
    query = per_window.writeStream.outputMode("append").format("memory").queryName(name).start()
    try:
        orders.append([_order(1, 1, 10), _order(9, 1, 5), _order(4, 2, 7), _order(12, 1, 1)])
        query.processAllAvailable()
        assert _closed(spark, name, "item_id") == []  # the watermark is at 12:02: rows for 12:00 may still come

        orders.append([_order(3, 1, 100), _order(25, 1, 2)])  # 12:03 is late and in time
        query.processAllAvailable()
        first = [(0, 1, 115, 3), (0, 2, 7, 1)]
        assert _closed(spark, name, "item_id") == first  # the watermark is at 12:15

        orders.append([_order(5, 1, 1000), _order(14, 1, 4), _order(45, 1, 3)])  # 12:05 is too late, 12:14 is not
        query.processAllAvailable()
        assert _closed(spark, name, "item_id") == [*first, (10, 1, 5, 2), (20, 1, 2, 1)]
        left_out = sum(s["numRowsDroppedByWatermark"] for p in query.recentProgress for s in p["stateOperators"])
        assert left_out == 1
    finally:
        query.stop()


def test_a_lookup_join_keeps_the_watermark(
    spark: SparkSession, server: ServerProcess, orders: lw.Table, stream: DataFrame, database: str
) -> None:
    """Orders are enriched from a primary key table first, and windowed by what was found."""
    with lw.connect(server.bootstrap) as conn:
        items = conn.create_table(f"{database}.items", "id BIGINT, kind STRING", primary_key=["id"], buckets=1)
        items.upsert([{"id": 1, "kind": "tea"}, {"id": 2, "kind": "tea"}])
    name = f"kinds_{database}"
    kinds = lw.spark.lookup_join(f"{database}.items", {"item_id": "id"}, bootstrap=server.bootstrap)
    enriched = stream.withWatermark("at", "10 minutes").transform(kinds)
    per_kind = _amounts(enriched.groupBy(f.window("at", "10 minutes"), "kind"))
    query = per_kind.writeStream.outputMode("append").format("memory").queryName(name).start()
    try:
        orders.append([_order(1, 1, 10), _order(4, 2, 7), _order(5, 9, 1), _order(45, 1, 3)])
        query.processAllAvailable()
        assert _closed(spark, name, "kind") == [(0, "tea", 17, 2), (0, None, 1, 1)]
    finally:
        query.stop()
