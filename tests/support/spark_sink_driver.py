"""A Spark driver that copies a table into a log table and a primary key table, and dies on the way when told to.

    python spark_sink_driver.py '{"bootstrap": …, "source": …, "sinks": […], "work": directory, "fails_every": batches,
        "death": {…} or null}'

The plan is shuffled at random, so that a batch that runs again has its rows in other tasks, and one task of each batch
(or of every other one) fails at its first attempt. A death is {"moment": …, "after": commits before it, "zombie":
whether the process that commits outlives the driver}.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import plain_source
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everywhere
from pyspark.sql.types import StructType

from lakeward.client.staged import StagedSink
from lakeward.spark.source.data_source import FlussDataSource
from lakeward.spark.source.writers import FlussStreamWriter
from lakeward.spark.table.connections import connection

#: In the order in which a batch goes through them.
MOMENTS = ("before", "planned", "manifest", "append", "appended", "done", "cleaned", "after")
_ROWS_PER_BATCH = 150


class DyingWriter(FlussStreamWriter):
    """Commits as the product does; the moments of a commit are told to death."""

    work: str = ""

    def commit(self, messages: Any, batchId: int) -> None:  # noqa: N803 - Spark's name
        """The same, with death listening."""
        self._tell("before")
        super().commit(messages, batchId)
        self._tell("after")

    def _sink(self, messages: Any) -> StagedSink | None:
        rows = self._rows
        return StagedSink(connection(rows.options), str(rows.path), self._directory(None), tell=self._tell)

    def _tell(self, moment: str) -> None:
        death = Path(self.work, "death.json")
        if not death.exists():
            return
        told = json.loads(death.read_text())
        if told["moment"] != moment:
            return
        if told["after"] > 0:
            death.write_text(json.dumps({**told, "after": told["after"] - 1}))
            return
        death.unlink()
        for pid in told["pids"]:
            os.kill(pid, signal.SIGKILL)
        if not told["zombie"]:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.2)  # the driver is gone; this process goes on with what it was at


class DyingSource(FlussDataSource):
    """The data source with writers that die."""

    work = ""

    @classmethod
    def name(cls) -> str:
        """A name of its own."""
        return "fluss_dying"

    def streamWriter(self, schema: StructType, overwrite: bool) -> DyingWriter:  # noqa: N802 - Spark's name
        """A writer that dies."""
        checkpoint = self.options.get("checkpointLocation")
        writer = DyingWriter(self._options_of(schema), schema, checkpoint=checkpoint, overwrite=overwrite)
        writer.work = self.work
        return writer


def fails_at_first(every: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows as they are; the first attempt of task 1 breaks off in the middle, in every so many batches."""
    context = TaskContext.get()
    assert context is not None
    number = int(context.getLocalProperty("streaming.sql.batchId") or 0)
    for batch in batches:
        if number % every == 0 and context.partitionId() == 1 and context.attemptNumber() == 0:
            yield batch.slice(0, batch.num_rows // 2)
            raise RuntimeError("a task that fails at its first attempt")
        yield batch


def copy(spark: SparkSession, told: dict[str, Any], sink: str) -> Any:
    """A query that copies the source to a sink over a random shuffle."""
    at = {"bootstrap.servers": told["bootstrap"]}
    rows = spark.readStream.format(plain_source.NAME).options(**at, maxRowsPerTrigger=str(_ROWS_PER_BATCH))
    shuffled = rows.load(told["source"]).withColumn("chance", F.rand()).repartition(3, "chance").drop("chance")
    flaky = shuffled.mapInArrow(partial(fails_at_first, told["fails_every"]), shuffled.schema)
    writer = flaky.writeStream.format("fluss_dying").options(**at, table=sink)
    return writer.option("checkpointLocation", f"{told['work']}/{sink}").trigger(availableNow=True).start()


def main(told: dict[str, Any]) -> None:
    """Run until all is copied, or until death comes."""
    spark = plain_source.plain_session("local[2,3]", **{"spark.sql.codegen.wholeStage": "false"})
    DyingSource.work = told["work"]
    spark.dataSource.register(DyingSource)
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    if told["death"]:
        pids = [jvm.java.lang.ProcessHandle.current().pid(), os.getpid()]
        Path(told["work"], "death.json").write_text(json.dumps({**told["death"], "pids": pids}))
    for sink in told["sinks"]:
        copy(spark, told, sink).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
