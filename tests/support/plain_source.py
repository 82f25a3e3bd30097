"""The Python data source under a name of its own: `fluss` may be the jar's in the session that tests share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pyspark import cloudpickle

from lakeward.spark.setup.ingest_sources import register_source
from lakeward.spark.source.data_source import FlussDataSource
from lakeward.spark.source.no_streams import has_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "fluss_py"
HAS_STREAMS = has_streams()  # Spark 4.1 streams only with the jar
STREAMS_NAME = NAME if HAS_STREAMS else "fluss"


class PlainFluss(FlussDataSource):
    """The same, by another name."""

    @classmethod
    def name(cls) -> str:
        """What tests call it."""
        return NAME


def register(spark: SparkSession) -> None:
    """Make it known; its class travels by value, since workers do not see the tests' modules."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    register_source(spark, PlainFluss)


def plain_session(master: str = "local[2]", **conf: str) -> SparkSession:
    """The session that runs, or a small one without the jar."""
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("lakeward-tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss4m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timeType.enabled": "true",
        **conf,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = SparkSession.getActiveSession() or builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    register(spark)
    return spark
