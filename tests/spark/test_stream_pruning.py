"""Streams through the jar read the columns that a micro-batch uses: the server's own count of bytes says so."""

from __future__ import annotations

import hashlib
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from server_process import ServerProcess
from spark_reads import run

import lakeward as lw

_ROWS, _BATCH_ROWS = 4_000, 200
_NAMES = [f"c{i}" for i in range(10)]


def _text(name: str, number: int) -> str:
    """A text that does not get smaller when it is packed."""
    return hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:20]


def _fill(table: lw.Table, ids: range) -> None:
    """In many batches: to tell how far behind it is, a stream looks at one, with all columns."""
    for first in range(ids.start, ids.stop, _BATCH_ROWS):
        _write(table, range(first, first + _BATCH_ROWS))


def _write(table: lw.Table, ids: range) -> None:
    rows = {"id": list(ids)} | {name: [_text(name, i) for i in ids] for name in _NAMES[1:]}
    if table.info.descriptor.has_primary_key:
        table.upsert(rows)
    else:
        table.append(rows)


@pytest.fixture(params=["log", "changelog"])
def wide(request: pytest.FixtureRequest, conn: lw.Connection, database: str) -> str:
    """A table of ten columns, by key where its changelog is read."""
    keyed = request.param == "changelog"
    columns = ", ".join(["id BIGINT NOT NULL", *(f"{name} STRING" for name in _NAMES[1:])])
    table = conn.create_table(f"{database}.wide", columns, primary_key=["id"] if keyed else [], buckets=2)
    _fill(table, range(_ROWS))
    return f"{database}.wide$changelog" if keyed else f"{database}.wide"


@pytest.fixture
def sent(server: ServerProcess, wide: str) -> Callable[[], int]:
    """Bytes that the server has sent of the table since it was last asked."""
    if not isinstance(server, ServerProcess):
        pytest.skip("only our own server counts bytes by table")
    name, last = wide.partition("$")[0], 0

    def count() -> int:
        nonlocal last
        with urllib.request.urlopen(f"http://{server.bootstrap}/metrics") as answer:
            found = re.search(rf'lakeward_table_out_bytes_total{{table="{name}"}} (\d+)', answer.read().decode())
        total = int(found[1]) if found else 0
        last, since = total, total - last
        return since

    count()
    return count


@pytest.mark.covering
@pytest.mark.parametrize("startup", ["full", "earliest"])
def test_two_columns_of_ten_cost_two(
    spark: SparkSession, conn: lw.Connection, wide: str, sent: Callable[[], int], tmp_path: Path, startup: str
) -> None:
    """What is selected, filtered by and grouped by is sent, and no more; rows and counts are as before."""
    is_state = "$" in wide and startup == "full"  # it comes as it lies, with all columns
    if is_state:
        _write(conn.table(wide.partition("$")[0]), range(_BATCH_ROWS))  # twice in the log, once in the state
    stream = spark.readStream.option("scan.startup.mode", startup).table(f"fluss.{wide}")
    _, rows = run(stream, tmp_path / "all")
    whole = sent()
    assert len(rows) == _ROWS
    query, rows = run(stream.where("c2 < '8'").select("id"), tmp_path / "two")
    two = sent()
    assert sorted(row.id for row in rows) == [i for i in range(_ROWS) if _text("c2", i) < "8"]
    assert sum(p.numInputRows for p in query.recentProgress) == _ROWS
    assert is_state or two < 0.3 * whole
    _, rows = run(stream.select(sf.lit(1).alias("one")), tmp_path / "none")
    assert len(rows) == _ROWS
    assert is_state or sent() < two


def test_a_checkpoint_serves_another_projection(
    spark: SparkSession, conn: lw.Connection, wide: str, sent: Callable[[], int], tmp_path: Path
) -> None:
    """A restarted query may ask for other columns: it goes on where it was, with these."""
    stream = spark.readStream.option("scan.startup.mode", "earliest").table(f"fluss.{wide}")
    _, rows = run(stream.select("id"), tmp_path / "c")
    narrow = sent()
    assert sorted(row.id for row in rows) == list(range(_ROWS))
    _fill(conn.table(wide.partition("$")[0]), range(_ROWS, 2 * _ROWS))
    _, rows = run(stream.select("c9", "c1", "c3"), tmp_path / "c")
    wider = sent()
    asked = ("c9", "c1", "c3")
    assert {row.c9: tuple(row) for row in rows} == {
        _text("c9", i): tuple(_text(c, i) for c in asked) for i in range(_ROWS, 2 * _ROWS)
    }
    assert len(rows) == _ROWS
    assert wider > 1.5 * narrow
    _fill(conn.table(wide.partition("$")[0]), range(2 * _ROWS, 3 * _ROWS))
    _, rows = run(stream.select("id"), tmp_path / "c")
    assert sorted(row.id for row in rows) == list(range(2 * _ROWS, 3 * _ROWS))
    assert sent() < 1.2 * narrow


def test_one_stream_with_two_projections_gives_each_its_own(
    spark: SparkSession, wide: str, sent: Callable[[], int], tmp_path: Path
) -> None:
    """Spark takes two scans of one stream for the same: neither half of a union or join gets the other's columns."""
    stream = spark.readStream.option("scan.startup.mode", "earliest").table(f"fluss.{wide}").where("id < 10")
    one, other = stream.select("id", sf.col("c1").alias("v")), stream.select("id", sf.col("c2").alias("v"))
    _, rows = run(one.repartition("id").union(other.repartition("id")), tmp_path / "union")
    assert sorted(rows) == sorted((i, _text(c, i)) for i in range(10) for c in ("c1", "c2"))
    joined = one.join(other.withColumnRenamed("v", "w"), "id")
    _, rows = run(joined, tmp_path / "join")
    assert sorted(rows) == [(i, _text("c1", i), _text("c2", i)) for i in range(10)]


def test_watermarks_and_state_see_their_columns(spark: SparkSession, wide: str, tmp_path: Path) -> None:
    """An aggregate with a watermark reads the time and the group, whatever lies between."""
    stream = spark.readStream.option("scan.startup.mode", "earliest").table(f"fluss.{wide}")
    timed = stream.withColumn("at", sf.timestamp_seconds("id")).withWatermark("at", "1 day")
    counted = timed.groupBy(sf.substring("c3", 21, 1).alias("g")).agg(sf.count("*").alias("n"), sf.max("at"))
    rows: list[tuple[str, int]] = []
    writer = counted.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path))
    query = writer.foreachBatch(lambda batch, _: rows.extend((r.g, r.n) for r in batch.collect()))
    query.trigger(availableNow=True).start().awaitTermination(200)
    assert rows[-1] == ("", _ROWS)
