"""`python -m bench.ingest.kafka [--rows N] [--rounds N]`: a real Kafka's topic into a log table, beside Spark's source.

Prints, and writes docs/benchmarks-kafka.md. Needs Java and Maven, which bring the broker and Spark's own source.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import lakeward as lw
from bench.report import KAFKA_PAGE, Line, markdown
from bench.targets import lakeward, warm_memory

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
from kafka_broker import RealBroker, can_run_kafka, spark_jars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "id BIGINT, user_id BIGINT, kind STRING, amount DOUBLE, at TIMESTAMP_NTZ, note STRING"
_TABLE = "id BIGINT, user_id BIGINT, kind STRING, amount DOUBLE, at TIMESTAMP(6), note STRING"
_PARTITIONS = 4


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.ingest.kafka", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows in the topic (default 1,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="repeats of each work; the median counts (default 3)")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-kafka.md as it is")
    arguments = parser.parse_args()
    if not can_run_kafka():
        print("Nothing was measured: a real Kafka needs java and mvn on the PATH.")
        return
    warm_memory()
    target = lakeward()
    with tempfile.TemporaryDirectory(prefix="kafka-bench-") as place:
        broker = RealBroker(Path(place) / "broker")
        try:
            broker.create("events", _PARTITIONS)
            _fill(broker, arguments.rows)
            spark = lw.spark.session(
                target.bootstrap,
                master="local[2]",
                **{"spark.jars": ",".join(spark_jars()), "spark.ui.enabled": "false", "spark.driver.memory": "2g"},
            )
            spark.sparkContext.setLogLevel("OFF")
            ours, theirs = _measure(spark, target.bootstrap, broker.bootstrap, arguments.rows, arguments.rounds)
            spark.stop()
        finally:
            broker.stop()
            target.stop()
    work = "topic → log table, JSON of 200 bytes, availableNow; beside it Spark's own source and from_json"
    page = markdown(
        [Line(work, f"{ours / 1e3:.0f} krow/s", f"{theirs / 1e3:.0f} krow/s", "≥ 1.0 ×", ours / theirs, 1.0)],
        f"{dt.date.today():%Y-%m-%d}",
        arguments.rounds,
        [
            f"{arguments.rows:,} rows of six columns in {_PARTITIONS} partitions; one session on local[2], one broker.",
            "Counted are micro-batches, from the question for offsets to the commit.",
            "Starting a stream takes ours longer: the driver's part of it is a Python process of its own.",
        ],
        title="Benchmarks: Kafka",
        peer="Spark's own",
    )
    print(page)
    if not arguments.no_write:
        KAFKA_PAGE.write_text(page)


def _fill(broker: RealBroker, rows: int) -> None:
    for first in range(0, rows, 100_000):
        broker.send("events", (_row(n) for n in range(first, min(first + 100_000, rows))))


def _row(n: int) -> bytes:
    row = {
        "id": n,
        "user_id": n * 7919 % 1_000_003,
        "kind": ("click", "view", "order")[n % 3],
        "amount": n % 1000 / 8,
        "at": f"2026-11-01 10:{n // 60 % 60:02}:{n % 60:02}.125000",
        "note": "",
    }
    text = json.dumps(row)
    return json.dumps({**row, "note": "x" * (200 - len(text))}).encode()


def _measure(spark: SparkSession, server: str, broker: str, rows: int, rounds: int) -> tuple[float, float]:
    took: dict[str, list[float]] = {"ours": [], "theirs": []}
    with lw.connect(server) as conn:
        conn.create_database("bench", exist_ok=True)
        for number in range(rounds + 1):  # the first warms up
            for name, frame in (("ours", _ours(spark, broker)), ("theirs", _theirs(spark, broker))):
                table = f"bench.{name}_{number}"
                conn.create_table(table, _TABLE, buckets=2)
                with tempfile.TemporaryDirectory() as checkpoint:
                    begun = time.perf_counter()
                    writer = frame.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
                    query = writer.toTable(f"fluss.{table}")
                    query.awaitTermination()
                    seconds = time.perf_counter() - begun
                found = spark.sql(f"SELECT count(*), sum(id), sum(length(note)) FROM fluss.{table}").first()
                assert found is not None
                assert (found[0], found[1]) == (rows, rows * (rows - 1) // 2), found
                batches_s = sum(one["durationMs"]["triggerExecution"] for one in query.recentProgress) / 1000
                print(f"{table}: {rows / batches_s:,.0f} rows/s; {seconds - batches_s:.1f} s to start", flush=True)
                if number:
                    took[name].append(batches_s)
                conn.drop_table(table)
    return rows / statistics.median(took["ours"]), rows / statistics.median(took["theirs"])


def _ours(spark: SparkSession, broker: str) -> DataFrame:
    options = {"properties.bootstrap.servers": broker, "topic": "events", "format": "json"}
    return spark.readStream.format("lakeward.kafka").options(**options).schema(_SCHEMA).load()


def _theirs(spark: SparkSession, broker: str) -> DataFrame:
    from pyspark.sql.functions import from_json

    options = {"kafka.bootstrap.servers": broker, "subscribe": "events", "startingOffsets": "earliest"}
    frame = spark.readStream.format("kafka").options(**options).load()
    parsed = from_json(frame["value"].cast("string"), _SCHEMA)
    return frame.select(parsed.alias("row")).select("row.*")


if __name__ == "__main__":
    main()
