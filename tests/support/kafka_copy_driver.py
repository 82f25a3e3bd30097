"""A Spark driver that copies one topic into another exactly once, in small micro-batches, until it is killed.

python kafka_copy_driver.py BOOTSTRAP SOURCE INTO CHECKPOINT [--to-the-end]
"""

from __future__ import annotations

import os
import sys

import lakeward as lw


def main() -> None:
    """Run for ever, or until everything there is was copied."""
    bootstrap, source, into, checkpoint = sys.argv[1:5]
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    spark = lw.spark.session("127.0.0.1:1", master="local[2]", **settings)
    spark.sparkContext.setLogLevel("OFF")
    place = {"properties.bootstrap.servers": bootstrap, "format": "json"}
    reading = {**place, "topic": source, "scan.max-rows-per-trigger": "150"}
    frame = spark.readStream.format("lakeward.kafka").options(**reading).schema("id BIGINT").load().coalesce(1)
    writing = {**place, "topic": into, "sink.delivery-guarantee": "exactly-once", "checkpointLocation": checkpoint}
    writer = frame.writeStream.format("lakeward.kafka").options(**writing)
    query = (writer.trigger(availableNow=True) if "--to-the-end" in sys.argv else writer).start()
    print("running", flush=True)
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
