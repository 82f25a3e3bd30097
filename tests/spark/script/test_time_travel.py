"""Scripts read lake and log as one table, as it was at a moment, and by the lake's own catalog."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tiering_runs import TIERED, Warehouse

import lakeward as lw
from lakeward.language.place import ScriptError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_table_is_read_as_it_was(spark: SparkSession, lake: Warehouse, database: str) -> None:
    """By snapshot and by time, as a hint and by FOR SYSTEM_TIME AS OF; without either, as it is now."""
    table = lake.conn.create_table(f"{database}.t", "id BIGINT, name STRING", buckets=2, properties=TIERED)
    table.append([{"id": number, "name": "old"} for number in range(10)])
    first = lake.round(table)
    time.sleep(0.02)
    moment = datetime.now(UTC)
    time.sleep(0.02)
    table.append([{"id": number, "name": "new"} for number in range(10, 13)])
    script = lw.spark.script(spark, server=lake.bootstrap)
    script.run(
        f"CREATE CATALOG here WITH ('type' = 'fluss', 'lake.warehouse' = '{lake.directory}'); USE here.{database};"
    )

    def count(source: str) -> int:
        (outcome,) = script.run(f"SELECT COUNT(*) AS n FROM {source}")
        return int(outcome.rows()["n"][0].as_py())

    text = moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")
    assert count("t") == 13
    assert count(f"t /*+ OPTIONS('scan.snapshot-id' = '{first.snapshot_id}') */") == 10
    assert count(f"t FOR SYSTEM_TIME AS OF TIMESTAMP '{text}'") == 10
    assert count(f"t FOR SYSTEM_TIME AS OF TIMESTAMP '{datetime(2100, 1, 1)}'") == 13
    assert count("t$lake") == 10
    with pytest.raises(ScriptError, match=r"[Ss]napshot"):
        count("t /*+ OPTIONS('scan.snapshot-id' = '12345') */")
