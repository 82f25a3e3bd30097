"""A script's aggregates of a primary key table follow its updates and deletes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eventually import eventually
from pyspark.sql import SparkSession
from server_process import ServerProcess

import lakeward as lw
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.script import Script


def test_aggregates_follow_updates_and_deletes(
    spark: SparkSession, server: ServerProcess, conn: lw.Connection, database: str, tmp_path: Path
) -> None:
    """The least value changes, the greatest goes, a sum loses 1e300, a group ends."""
    script = Script(spark, server=server.bootstrap, jobs=Jobs(JobHome(tmp_path)))
    script.run(f"""
        CREATE TABLE prices (id BIGINT, item STRING, price DOUBLE, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('table.name' = '{database}.prices');
        CREATE TABLE items (item STRING, n BIGINT, low DOUBLE, high DOUBLE, total DOUBLE, mean DOUBLE, kinds BIGINT,
            cheap BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('table.name' = '{database}.items');
    """)
    prices = conn.table(f"{database}.prices")

    def rows() -> list[tuple[Any, ...]]:
        return sorted(map(tuple, spark.table(f"fluss.{database}.items").collect()))

    first = [(1, "pen", 1.0), (2, "pen", 2.0), (3, "pen", 1e300), (4, "ink", 5.0), (5, "pen", 2.0)]
    prices.upsert([{"id": key, "item": item, "price": price} for key, item, price in first])
    outcome = script.run("""
        INSERT INTO items SELECT item, COUNT(*), MIN(price), MAX(price), SUM(price), AVG(price), COUNT(DISTINCT price),
            COUNT(*) FILTER (WHERE price < 2) FROM prices GROUP BY item;
    """)[0]
    assert outcome.job is not None
    try:
        before = [("ink", 1, 5.0, 5.0, 5.0, 5.0, 1, 0), ("pen", 4, 1.0, 1e300, 1e300, 2.5e299, 3, 1)]
        assert eventually(lambda: rows() == before), rows()
        prices.delete([{"id": 3}, {"id": 4}])
        prices.upsert([{"id": 1, "item": "pen", "price": 5.0}])
        after = [("pen", 3, 2.0, 5.0, 9.0, 3.0, 2, 0)]
        assert eventually(lambda: rows() == after), rows()
    finally:
        outcome.job.stop()
