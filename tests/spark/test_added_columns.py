"""ADD COLUMN while a Spark stream runs: Spark keeps the columns it began with, so we say what it leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_running_stream_is_told_of_new_columns(
    spark: SparkSession, conn: lw.Connection, database: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Once for the table it reads, once for the table it writes; a new start has the column."""
    source = conn.create_table(f"{database}.a", "id INT", buckets=1)
    target = conn.create_table(f"{database}.b", "id INT", buckets=1)
    spark.sparkContext.setLogLevel("WARN")
    writer = spark.readStream.table(f"fluss.{source.path}").writeStream.option("checkpointLocation", str(tmp_path))
    query = writer.trigger(processingTime="0 seconds").toTable(f"fluss.{target.path}")
    try:
        source.append([{"id": 1}])
        query.processAllAvailable()
        for table in (source, target):
            conn.alter_table(str(table.path), add_columns="note STRING")
        source.append([{"id": 2, "note": "b"}])
        query.processAllAvailable()
    finally:
        query.stop()
        spark.sparkContext.setLogLevel("OFF")
    # Spark's log goes to the error stream that the session was started with.
    said = pytestconfig.pluginmanager.getplugin("capturemanager").read_global_capture().err
    assert f"{source.path} has got column 'note' meanwhile. This stream does not show it" in said
    assert f"{target.path} has got column 'note' meanwhile. This stream has no such column and writes NULL" in said
    assert said.count("has got column") == 2
    again = spark.readStream.table(f"fluss.{source.path}").writeStream.option("checkpointLocation", str(tmp_path))
    source.append([{"id": 3, "note": "c"}])
    again.trigger(availableNow=True).toTable(f"fluss.{target.path}").awaitTermination(120)
    found = conn.sql(f"SELECT * FROM {target.path} ORDER BY id").to_pylist()
    assert [row["note"] for row in found] == [None, None, "c"]
