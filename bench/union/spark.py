"""A union read in Spark beside Spark's own reading of the cold files."""

from __future__ import annotations

import lakeward.spark
from bench.union.work import LOG_SQL, Lake, Table, side_by_side


def spark_reads(lake: Lake, table: Table, rounds: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """Rows and seconds of both, on local[2]."""
    spark = lakeward.spark.session(
        lake.bootstrap,
        master="local[2]",
        **{"spark.driver.memory": "3g", "spark.sql.catalog.fluss.lake.warehouse": lake.warehouse},
    )
    spark.sparkContext.setLogLevel("ERROR")
    try:
        spark.table(f"fluss.{table.path}").createOrReplaceTempView("both")
        spark.read.parquet(*lake.files(table)).createOrReplaceTempView("cold")
        union, cold = (lambda name=name: spark.sql(LOG_SQL.format(name)).collect()[0][0] for name in ("both", "cold"))
        rows = union(), cold()
        seconds = side_by_side(union, cold, rounds)
    finally:
        spark.stop()
    return (rows[0], seconds[0]), (rows[1], seconds[1])
