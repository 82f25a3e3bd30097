"""Rows into files. Of a stream each micro-batch is written aside, then its files get names that only it can have:

    <path>/_staging/<query>/<batch>/dt=…/part-….json  →  <path>/dt=…/part-<query>-<batch>-<n>.json

A micro-batch that is done again first takes away what it left the last time, so that whoever lists the directory finds
its rows once. Spark's own sink would keep a list of its files beside them, which other readers do not look at, and
which hides files that somebody else has put there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.language.changes import Changes
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.connectors.filesystem.directory import Directory
from lakeward.spark.scripts.connectors.filesystem.file_formats import directory_of, spark_format, write_options
from lakeward.spark.scripts.connectors.port import Begin, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter
    from pyspark.sql.streaming.query import StreamingQuery

_STAGING = "_staging"
_QUERY_ID = "sql.streaming.queryId"


class FileSink:
    """A directory, to be written to."""

    takes = Changes.APPEND

    def __init__(self, table: TableDefinition) -> None:
        self._table = table
        self._directory = directory_of(table)
        spark_format(table)

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        """Add files, or put them in the place of those there are; of partitions, only those that get rows."""
        writer = self._writer(rows.frame)
        if overwrite:
            mode = "dynamic" if self._table.partitioned_by else "static"
            writer = writer.option("partitionOverwriteMode", mode)
        writer.mode("overwrite" if overwrite else "append").save(self._directory)

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        """Each micro-batch once."""

        def write(frame: DataFrame, batch_id: int) -> None:
            query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
            assert query is not None, "Spark says which query a micro-batch belongs to"
            self._write_once(frame, query.replace("-", ""), batch_id)

        return begin(rows.frame).foreachBatch(write).start()

    def _write_once(self, frame: DataFrame, query: str, batch_id: int) -> None:
        directory = Directory(frame.sparkSession, self._directory)
        head, staging = f"part-{query}-{batch_id:010}-", f"{_STAGING}/{query}/{batch_id}"
        folders = "*/" * len(self._table.partitioned_by)
        for left in directory.matches(f"{folders}{head}*"):
            directory.remove(left)
        self._writer(frame).mode("overwrite").save(directory.inner(staging))
        for number, (folder, name) in enumerate(sorted(directory.files(staging))):
            ending = name[name.index(".") :] if "." in name else ""
            parts = [folder] if folder else []
            directory.move("/".join([staging, *parts, name]), "/".join([*parts, f"{head}{number:05}{ending}"]))
        directory.remove(directory.inner(staging))

    def _writer(self, frame: DataFrame) -> DataFrameWriter:
        writer = frame.write.format(spark_format(self._table)).options(**write_options(self._table))
        return writer.partitionBy(*self._table.partitioned_by) if self._table.partitioned_by else writer
