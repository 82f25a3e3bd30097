"""The tiering service as a Spark application: enumerator and committer on the driver, readers and writers on executors.

`lakeward tier` starts it, on any Spark master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.spark.setup.own_pool import FAIR
from lakeward.spark.setup.spark_session import session
from lakeward.tiering.settings import TieringSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def tiering_session(settings: TieringSettings) -> SparkSession:
    """The Spark session of a tiering service."""
    return session(
        settings.bootstrap, master=settings.master, app_name="lakeward tiering", **{**FAIR, **settings.spark}
    )


def submitted_master() -> str:
    """The master that `spark-submit` was told."""
    from pyspark import SparkConf

    return SparkConf().get("spark.master", "local[*]")
