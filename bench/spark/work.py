"""Spark at work on our tables, beside the same work on Parquet files, in one session."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakeward
import lakeward.spark
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target

_SEEN_ROWS = 40
_SEEN_PAUSE_S = 0.7
_LOOKUP_KEYS = 100_000


@dataclass(frozen=True, slots=True)
class SparkFigures:
    """Rates in rows a second, times in milliseconds."""

    read: float
    read_parquet: float
    read_pruned: float
    append: float
    append_parquet: float
    seen_p50_ms: float
    seen_p95_ms: float
    lookup_join: float
    lookup_floor: float


def measure(target: Target, rows: int, repeats: int) -> SparkFigures:
    """Everything once, on local[2]; a rate is the best but one of some repeats, since the JVM warms up slowly."""
    directory = Path(tempfile.mkdtemp(prefix="lakeward-bench-spark-"))
    spark = lakeward.spark.session(target.bootstrap, master="local[2]", **{"spark.driver.memory": "3g"})
    spark.sparkContext.setLogLevel("ERROR")
    try:
        with lakeward.connect(target.bootstrap) as connection:
            table = connection.create_table("fluss.spark_rows", SCHEMA, buckets=2)
            table.append(batches(rows // BATCH_ROWS))
            parquet = directory / "rows"
            _write_parquet(parquet, rows)
            ours, files = spark.table("fluss.fluss.spark_rows"), spark.read.parquet(str(parquet))
            read = _rate(rows, repeats, lambda: _noop(ours))
            read_parquet = _rate(rows, repeats, lambda: _noop(files))
            pruned = _rate(rows, repeats, lambda: ours.agg({"user_id": "sum"}).collect())
            append, append_parquet = _appends(connection, files, rows, repeats, directory)
            seen = _seen(spark, connection, directory)
            join, floor = _joins(spark, connection, rows, repeats)
    finally:
        spark.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return SparkFigures(
        read,
        read_parquet,
        pruned,
        append,
        append_parquet,
        statistics.median(seen),
        seen[int(len(seen) * 0.95)],
        join,
        floor,
    )


def _noop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _rate(rows: int, repeats: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats + 2):  # two to warm up
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return rows / statistics.median(times[2:])


def _write_parquet(where: Path, rows: int) -> None:
    where.mkdir()
    made = batches(rows // BATCH_ROWS)
    half = len(made) // 2
    for number, part in enumerate((made[:half], made[half:])):
        pq.write_table(pa.Table.from_batches(part), where / f"{number}.parquet", compression="zstd")


def _appends(connection: Any, files: Any, rows: int, repeats: int, directory: Path) -> tuple[float, float]:
    """Rows that Spark holds in memory, written to a table and to Parquet."""
    held = files.repartition(2).persist()
    held.count()
    connection.create_table("fluss.spark_sink", SCHEMA, buckets=2)
    ours = _rate(rows, repeats, lambda: held.writeTo("fluss.fluss.spark_sink").append())
    out = str(directory / "out")
    parquet = _rate(rows, repeats, lambda: held.write.option("compression", "zstd").mode("overwrite").parquet(out))
    held.unpersist()
    return ours, parquet


def _seen(spark: Any, connection: Any, directory: Path) -> list[float]:
    """From an append until foreachBatch has the row: milliseconds, ascending."""
    table = connection.create_table("fluss.spark_seen", "id BIGINT", buckets=1)
    arrived: dict[int, float] = {}
    news = threading.Event()

    def note(frame: Any, _batch: int) -> None:
        for row in frame.collect():
            arrived[row.id] = time.perf_counter()
        news.set()

    stream = spark.readStream.option("scan.startup.mode", "earliest").table("fluss.fluss.spark_seen")
    query = stream.writeStream.foreachBatch(note).option("checkpointLocation", str(directory / "seen")).start()
    sent: dict[int, float] = {}
    try:
        for number in range(_SEEN_ROWS):
            news.clear()
            sent[number] = time.perf_counter()
            table.append([{"id": number}])
            while number not in arrived:
                if not news.wait(60):
                    raise TimeoutError(f"row {number} was not seen: {query.exception()}")
                news.clear()
            time.sleep(_SEEN_PAUSE_S)
    finally:
        query.stop()
    return sorted((arrived[n] - sent[n]) * 1000 for n in sent if n >= _SEEN_ROWS // 4)


def _joins(spark: Any, connection: Any, rows: int, repeats: int) -> tuple[float, float]:
    """A lookup join with a cache of half the keys, and a mapInArrow that does nothing, on the same rows."""
    users = connection.create_table(
        "fluss.spark_users", "id BIGINT, name STRING, tier STRING", primary_key=["id"], buckets=2
    )
    ids = pa.array(range(_LOOKUP_KEYS))
    users.upsert(pa.table({"id": ids, "name": ids.cast(pa.string()), "tier": ids.cast(pa.string())}))
    left = spark.range(0, rows, 1, 2).selectExpr(
        "id AS order_id", f"hash(id) % {_LOOKUP_KEYS // 2} + {_LOOKUP_KEYS // 2} AS user_id"
    )
    left = left.selectExpr("order_id", "CAST(user_id AS BIGINT) AS user_id")
    join = lakeward.spark.lookup_join("fluss.fluss.spark_users", on={"user_id": "id"}, cache_rows=_LOOKUP_KEYS // 2)
    rate = _rate(rows, repeats, lambda: _noop(left.transform(join)))
    same = left.mapInArrow(_same, left.schema)
    return rate, _rate(rows, repeats, lambda: _noop(same))


def _same(batches_: Any) -> Any:
    yield from batches_
