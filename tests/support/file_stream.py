"""FileStream: rows that come and go, in files that a stream of Spark reads one by one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


class FileStream:
    """A directory of files, and the checkpoint of a query that reads them."""

    def __init__(self, spark: SparkSession, home: Path, schema: str) -> None:
        self._spark = spark
        self._home = home
        self._schema = schema
        self._files = 0
        self.checkpoint = str(home / "out")
        (home / "in").mkdir()

    def drop(self, rows: list[dict[str, Any]]) -> None:
        """One more file, whole from the first moment on."""
        hidden = self._home / f".{self._files}.json"
        hidden.write_text("\n".join(json.dumps(row) for row in rows))
        os.utime(hidden, (self._files, self._files))  # the stream reads them in this order
        hidden.rename(self._home / "in" / f"{self._files:04}.json")
        self._files += 1

    def stream(self) -> DataFrame:
        """The rows as they come, each file in a micro-batch of its own."""
        return self._spark.readStream.schema(self._schema).option("maxFilesPerTrigger", 1).json(str(self._home / "in"))

    def run(self, grouped: DataFrame, mode: str = "update") -> list[tuple[Any, ...]]:
        """What a query gave from its checkpoint on until all files are read; a new run is a restart."""
        given: list[tuple[Any, ...]] = []

        def keep(batch: DataFrame, _: int) -> None:
            given.extend(map(tuple, batch.collect()))

        writer = grouped.writeStream.outputMode(mode).foreachBatch(keep)
        query = writer.option("checkpointLocation", self.checkpoint).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            query.stop()
        return given
