"""Short ways to read by Spark: a catalog with a lake, the plan as text, a stream over what is there."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StreamingQuery
from tiering_runs import Warehouse


def catalog_of(spark: SparkSession, lake: Warehouse, database: str) -> str:
    """A catalog that knows where the lake is."""
    name = f"with_{database}"
    spark.conf.set(f"spark.sql.catalog.{name}", "io.lakeward.spark.FlussCatalog")
    spark.conf.set(f"spark.sql.catalog.{name}.bootstrap.servers", lake.bootstrap)
    spark.conf.set(f"spark.sql.catalog.{name}.lake.warehouse", str(lake.directory))
    return name


def explained(df: DataFrame) -> str:
    """What EXPLAIN prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        df.explain()
    return text.getvalue()


def run(df: DataFrame, checkpoint: Path) -> tuple[StreamingQuery, list[Row]]:
    """Run a stream over what is there; the query, and the rows it gave."""
    rows: list[Row] = []
    writer = df.writeStream.foreachBatch(lambda batch, _: rows.extend(batch.collect()))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination(200)
    return query, rows
