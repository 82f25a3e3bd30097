"""The tiering service as a Spark application: enumerator and committer on the driver, readers and writers on executors.

`lakeward tier` starts it, on any Spark master.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.spark.setup.class_archive import BRISK
from lakeward.spark.setup.own_pool import FAIR
from lakeward.spark.setup.spark_session import start_context
from lakeward.spark.tiering.worker_daemon import MODULE
from lakeward.tiering.settings import TieringSettings

if TYPE_CHECKING:
    from pyspark import SparkContext

#: On one machine the JVM only places tasks, which are Python's: what makes it quick later is of no use.
_LOCAL = {"spark.driver.extraJavaOptions": BRISK, "spark.python.daemon.module": MODULE}


def tiering_context(settings: TieringSettings) -> SparkContext:
    """The Spark of a tiering service: tasks are all it needs."""
    local = _LOCAL if settings.master.startswith("local") else {}
    own_options = "spark.driver.extraJavaOptions" in settings.spark
    conf = {key: value for key, value in local.items() if not (own_options and key == "spark.driver.extraJavaOptions")}
    return start_context(settings.master, "lakeward tiering", {**FAIR, **conf, **settings.spark})


def submitted_master() -> str:
    """The master that `spark-submit` was told."""
    from pyspark import SparkConf

    return SparkConf().get("spark.master", "local[*]")
