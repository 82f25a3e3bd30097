"""A program of its own: sessions started, found again, refused. Prints what happened as one JSON line."""

from __future__ import annotations

import json
import os
import sys
import warnings

import lakeward
from lakeward.errors import LakewardError

_SMALL = {"spark.ui.enabled": False, "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


def _refusal(bootstrap: str) -> str:
    try:
        lakeward.spark.session(bootstrap)
    except LakewardError as wrong:
        return str(wrong)
    return ""


def main(bootstrap: str) -> None:
    """Play the story against a server."""
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    told: dict[str, object] = {}
    if "--plain-first" in sys.argv:
        plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        told["without the jar"] = _refusal(bootstrap)
        plain.stop()
    spark = lakeward.spark.session(bootstrap, master="local[2]", **_SMALL)
    told["databases"] = [row[0] for row in spark.sql("SHOW NAMESPACES IN fluss").collect()]
    told["sum"] = spark.range(10).selectExpr("sum(id)").first()[0]
    told["python"] = spark.range(5).mapInArrow(lambda batches: batches, "id long").count()
    told["same"] = lakeward.spark.session(bootstrap) is spark
    told["elsewhere"] = _refusal("localhost:1")
    lakeward.spark.session(bootstrap, catalog="second")
    told["second"] = [row[0] for row in spark.sql("SHOW NAMESPACES IN second").collect()]
    told["java"] = os.environ["JAVA_HOME"]
    spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
