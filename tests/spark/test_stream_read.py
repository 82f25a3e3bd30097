"""Streams through the jar: limits, restarts, modes, groups and progress."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from spark_reads import run

import lakeward as lw
from lakeward.client.blocking.groups import ConsumerGroups


def append(conn: lw.Connection, name: str, ids: range) -> None:
    """Rows with these ids."""
    conn.table(name).append({"id": list(ids), "v": [f"v{i}" for i in ids]})


@pytest.fixture
def events(conn: lw.Connection, database: str) -> str:
    """A hundred rows in two buckets."""
    conn.create_table(f"{database}.events", "id BIGINT, v STRING", buckets=2)
    append(conn, f"{database}.events", range(100))
    return f"{database}.events"


def test_micro_batches_heed_their_limit(spark: SparkSession, events: str, tmp_path: Path) -> None:
    """maxRowsPerTrigger holds, and availableNow ends where the table ended."""
    stream = spark.readStream.option("maxRowsPerTrigger", 30).table(f"fluss.{events}")
    query, rows = run(stream, tmp_path / "c")
    assert [p.numInputRows for p in query.recentProgress if p.numInputRows] == [30, 30, 30, 10]
    assert sorted(row.id for row in rows) == list(range(100))


def test_a_stream_goes_on_where_it_ended(spark: SparkSession, conn: lw.Connection, events: str, tmp_path: Path) -> None:
    """A restarted query reads what came in between, each row once, and nothing again."""
    target = f"fluss.{events}_copy"
    conn.create_table(f"{events}_copy", "id BIGINT, v STRING", buckets=2)
    for ids in (range(100, 150), range(150, 155)):
        writer = spark.readStream.table(f"fluss.{events}").writeStream.option("checkpointLocation", str(tmp_path / "c"))
        writer.trigger(availableNow=True).toTable(target).awaitTermination(200)
        append(conn, events, ids)
    writer.trigger(availableNow=True).toTable(target).awaitTermination(200)
    assert sorted(row.id for row in spark.table(target).collect()) == list(range(155))


def test_a_stream_may_begin_at_the_end(spark: SparkSession, conn: lw.Connection, events: str, tmp_path: Path) -> None:
    """scan.startup.mode=latest reads only what comes after the stream began."""
    stream = spark.readStream.option("scan.startup.mode", "latest").table(f"fluss.{events}").select("id")
    query = stream.writeStream.format("memory").queryName("tail").option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        append(conn, events, range(100, 103))
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(row.id for row in spark.table("tail").collect()) == [100, 101, 102]


def test_the_state_comes_first_then_the_changes(
    spark: SparkSession, conn: lw.Connection, database: str, tmp_path: Path
) -> None:
    """A stream of a primary key table begins with its rows and goes on with upserts; its changelog shows deletes."""
    table = conn.create_table(f"{database}.users", "id INT, name STRING", primary_key=["id"], buckets=2)
    table.upsert({"id": [1, 2], "name": ["a", "b"]})
    table.upsert({"id": [1], "name": ["c"]})
    name = f"fluss.{database}.users"
    _, rows = run(spark.readStream.table(name), tmp_path / "rows")
    assert sorted(map(tuple, rows)) == [(1, "c"), (2, "b")]
    run(spark.readStream.table(f"{name}$changelog"), tmp_path / "changes")
    table.delete({"id": [2]})
    _, changes = run(spark.readStream.table(f"{name}$changelog"), tmp_path / "changes")
    assert [(row._change_type, row.id) for row in changes] == [("delete", 2)]


def test_a_group_is_told_and_can_be_continued(
    spark: SparkSession, conn: lw.Connection, events: str, tmp_path: Path
) -> None:
    """properties.group.id commits what was read; another query begins there."""
    stream = spark.readStream.option("properties.group.id", f"g-{events}")
    run(stream.table(f"fluss.{events}"), tmp_path / "a")
    assert sum(ConsumerGroups(conn).committed(f"g-{events}", events).values()) == 100
    append(conn, events, range(100, 105))
    again = spark.readStream.option("properties.group.id", f"g-{events}").option("scan.startup.mode", "group")
    _, rows = run(again.table(f"fluss.{events}"), tmp_path / "b")
    assert len(rows) == 5


def test_progress_says_how_far_behind_the_stream_is(spark: SparkSession, events: str, tmp_path: Path) -> None:
    """Spark's own progress shows the lag in rows and time, and which table it is about."""
    stream = spark.readStream.option("maxRowsPerTrigger", 40).table(f"fluss.{events}")
    query, _ = run(stream, tmp_path / "c")
    reports = [p.sources[0] for p in query.recentProgress if p.numInputRows]
    assert [int(r.metrics["rowsBehind"]) for r in reports] == [60, 20, 0]
    assert reports[0].description == f"fluss {events}"


def test_a_dropped_table_ends_the_stream_with_one_sentence(
    spark: SparkSession, conn: lw.Connection, events: str, tmp_path: Path
) -> None:
    """The error names the table."""
    writer = spark.readStream.table(f"fluss.{events}").writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    query.processAllAvailable()
    conn.drop_table(events)
    with pytest.raises(StreamingQueryException, match=f"Table '{events}' does not exist"):
        query.awaitTermination(200)
