"""What a user would submit to a cluster: reads, writes and streams by the options of `fluss`, which Spark finds itself.

python cluster_script.py MASTER BOOTSTRAP DATABASE DIRECTORY, which driver and executors share. Prints JSON.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from lakeward.spark.setup.jar import jar_path
from lakeward.spark.source.no_streams import has_streams

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.shuffle.partitions": "2",
}


def executors(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Which executor runs this task: the process that is the parent of its Python daemon."""
    for _ in batches:
        pass
    with open(f"/proc/{os.getppid()}/stat") as stat:  # noqa: PTH123 - one line
        daemon_parent = stat.read().rsplit(")", 1)[1].split()[1]
    yield pa.record_batch({"who": [f"{socket.gethostname()}:{daemon_parent}"]})


def main(master: str, bootstrap: str, database: str, directory: str) -> None:
    """Copy a table by batch and by stream, and say what was seen."""
    builder = SparkSession.builder.master(master).appName("lakeward-cluster")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    if not has_streams():  # Spark 4.1 streams only with the jar
        builder = builder.config("spark.jars", jar_path())
    spark = builder.getOrCreate()
    at = {"bootstrap.servers": bootstrap}
    rows = spark.read.format("fluss").options(**at).load(f"{database}.source")
    told = {"count": rows.count(), "sum": rows.agg({"id": "sum"}).collect()[0][0]}
    rows.write.format("fluss").options(**at).mode("append").save(f"{database}.batch")
    stream = spark.readStream.format("fluss").options(**at, maxRowsPerTrigger="600").load(f"{database}.source")
    query = (
        stream.writeStream.format("fluss")
        .options(**at, table=f"{database}.stream", checkpointLocation=f"{directory}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    told["executors"] = len({r.who for r in rows.repartition(8).mapInArrow(executors, "who string").collect()})
    print(json.dumps(told), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
