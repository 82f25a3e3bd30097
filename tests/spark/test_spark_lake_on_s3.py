"""Spark reads a lake that is in a bucket as one table with the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lake_tables import S3Warehouse
from seaweed import Bucket
from server_process import ServerProcess
from tiering_runs import TIERED

import lakeward as lw
from lakeward.client.admin.lake import TieringRound
from lakeward.runtime.clock import SystemClock
from lakeward.spark.tiering.spark_runner import SparkRunner
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, run_round

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.covering("paimon")
@pytest.mark.parametrize("format_", ["iceberg", "paimon"])
def test_hot_and_cold_are_one_table_with_the_cold_part_in_s3(
    spark: SparkSession, server: ServerProcess, s3: Bucket, database: str, format_: str
) -> None:
    """Tasks of Spark write the bucket and read it; where it is and who we are there are options of the catalog."""
    warehouse = S3Warehouse(s3)
    name = f"s3_{database}"
    spark.conf.set(f"spark.sql.catalog.{name}", "io.lakeward.spark.FlussCatalog")
    spark.conf.set(f"spark.sql.catalog.{name}.bootstrap.servers", server.bootstrap)
    for key, value in warehouse.properties.items():
        spark.conf.set(f"spark.sql.catalog.{name}.lake.{key}", value)
    with lw.connect(server.bootstrap) as conn:
        table = conn.create_table(
            f"{database}.t",
            "id BIGINT NOT NULL, name STRING",
            primary_key=["id"],
            buckets=2,
            properties={**TIERED, "table.datalake.format": format_},
        )
        table.upsert([{"id": i, "name": "cold"} for i in range(100)])
        clock = SystemClock()
        context = RoundContext(
            conn=conn,
            catalogs=LakeCatalogs(warehouse.properties),
            runner=SparkRunner(spark.sparkContext),
            clock=clock,
            bootstrap=server.bootstrap,
            client={},
        )
        run_round(context, TieringRound(table.info.table_id, table.path, 0, 1))
        table.upsert([{"id": i, "name": "hot"} for i in range(10)])
    assert spark.table(f"{name}.{table.path}").where("name = 'cold'").count() == 90
    assert spark.sql(f"SELECT count(*) FROM {name}.{table.path}$lake").collect()[0][0] == 100
