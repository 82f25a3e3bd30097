"""Tiering on Spark: the same rounds, as jobs."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

import pytest
from eventually import eventually
from log_watcher import LogWatcher
from tiering_runs import TIERED, Warehouse

from lakeward.errors import ErrorCode, LakewardError
from lakeward.spark.tiering.spark_runner import SparkRunner
from lakeward.tiering.assembly import assemble
from lakeward.tiering.settings import TieringSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_tables_are_tiered_by_spark(lake: Warehouse, spark: SparkSession) -> None:
    """Log and primary key tables at once, from SQL that creates them to stock readers."""
    database = f"db_{uuid.uuid4().hex[:8]}"
    properties = ", ".join(f"'{k}'='{v}'" for k, v in TIERED.items())
    spark.sql(f"CREATE DATABASE fluss.{database}")
    spark.sql(f"CREATE TABLE fluss.{database}.log (id BIGINT, name STRING) TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO fluss.{database}.log SELECT id, concat('n', id) FROM range(1000)")
    users = lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=TIERED
    )
    users.upsert([{"id": i, "name": f"n{i}"} for i in range(100)])
    users.delete([{"id": 3}])
    log = lake.conn.table(f"{database}.log")
    settings = TieringSettings(lake.bootstrap, {"warehouse": str(lake.directory)})
    service = assemble(settings, lake.conn, SparkRunner(spark.sparkContext), LogWatcher())
    thread = threading.Thread(target=service.run)
    thread.start()

    def is_tiered() -> bool:
        told = [lake.conn.lake.snapshot(table.path) for table in (log, users)]
        ends = [sum(table.offsets("latest").values()) for table in (log, users)]
        return [one and sum(one.offsets.values()) for one in told] == ends

    assert eventually(is_tiered, within_s=120)
    service.stop()
    thread.join()
    assert lake.assert_same_log(log) == 1000
    assert lake.assert_same_state(users) == 99
    lake.conn.drop_database(database, cascade=True)


def test_a_failure_in_a_task_keeps_its_words(lake: Warehouse, spark: SparkSession) -> None:
    """The error of an executor reaches the driver as it was raised, not as a trace of Java."""
    database = f"db_{uuid.uuid4().hex[:8]}"
    lake.conn.create_database(database)
    paused = {**TIERED, "table.datalake.freshness": "1 d"}
    table = lake.conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=1, properties=paused)
    table.append([{"id": 1, "name": "x"}])

    class Dropping(SparkRunner):
        """The table is gone when the tasks begin."""

        def run(self, name, tasks):  # type: ignore[no-untyped-def]
            lake.conn.drop_table(str(table.path))
            return super().run(name, tasks)

    with pytest.raises(LakewardError) as wrong:
        lake.round(table, runner=Dropping(spark.sparkContext))
    assert wrong.value.code is ErrorCode.TABLE_NOT_EXIST
    assert "Traceback" not in wrong.value.message
    lake.conn.drop_database(database, cascade=True)
