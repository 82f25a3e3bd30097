"""Writers of the Python data source: tasks stage their rows, the driver appends what they staged, once.

A batch write is staged in a directory of its own. A stream is staged in its checkpoint (`lakeward-sink`), or below
`sink.staging.dir` in a directory named after the query, so that a restarted driver finds what the last one left.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from lakeward.client.forms.new_columns import warn
from lakeward.client.staged import StagedSink, StagedWriter
from lakeward.errors import ErrorCode
from lakeward.options.spark import PARTITION_OVERWRITE, SINK_STAGING_DIR
from lakeward.runtime.entropy import SystemEntropy
from lakeward.spark.table.connections import connection
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.write.overwrite import check_overwrite, clear_partitions, partitions_of
from lakeward.spark.write.rows_to_write import STREAM_WRITES_NULL, RowsToWrite

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_SINK_DIRECTORY = "lakeward-sink"


@dataclass
class StagedPart(WriterCommitMessage):
    """What one task tells the driver: its part, and the query it belongs to."""

    part: bytes
    query_id: str | None = None


def _stage(
    rows: RowsToWrite, batches: Iterator[pa.RecordBatch], staging: str | None, batch_id: int | None = None
) -> bytes:
    writer = StagedWriter(
        connection(rows.options, expected=True),
        str(rows.path),
        staging=staging,
        columns=rows.columns,
        change_type_column=rows.change_type_column,
        batch_id=batch_id,
    )
    try:
        for batch in batches:
            writer.write(rows.fit(batch))
        return writer.finish()
    except BaseException:
        writer.abort()
        raise


def _parts(messages: Sequence[WriterCommitMessage | None]) -> list[bytes]:
    return [message.part for message in messages if isinstance(message, StagedPart)]


def _task_property(name: str) -> str | None:
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


class FlussWriter(DataSourceArrowWriter):
    """Appends a DataFrame, or replaces partitions with it."""

    def __init__(self, options: dict[str, str], schema: StructType, *, overwrite: bool) -> None:
        self._rows = RowsToWrite.of(options, schema)
        self._overwrite = overwrite
        if overwrite:
            check_overwrite(self._rows.path, self._rows.info)
        given = SINK_STAGING_DIR.read(options)
        self._temporary = None if given else tempfile.mkdtemp(prefix="lakeward-write-")
        self._directory = self._temporary or f"{given}/{SystemEntropy().uuid().hex}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedPart:
        """Stage the rows of one task."""
        # A temporary directory of the driver's is of use only where the task sees it; elsewhere parts travel whole.
        reachable = self._temporary is None or Path(self._temporary).is_dir()
        with one_sentence():
            return StagedPart(_stage(self._rows, iterator, self._directory if reachable else None))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Append what all tasks staged."""
        parts = _parts(messages)
        with one_sentence():
            conn = connection(self._rows.options)
            if self._overwrite:
                dynamic = PARTITION_OVERWRITE.read(self._rows.options) == "dynamic"
                clear_partitions(conn, self._rows.path, partitions_of(parts) if dynamic else None)
            self._sink().commit(0, parts)
        self._forget()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Drop what tasks staged."""
        with one_sentence():
            self._sink().abort(_parts(messages))
        self._forget()

    def _sink(self) -> StagedSink:
        rows = self._rows
        return StagedSink(connection(rows.options), str(rows.path), self._directory, columns=rows.columns)

    def _forget(self) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


class FlussStreamWriter(DataSourceStreamArrowWriter):
    """Appends or upserts micro-batches, each exactly once."""

    def __init__(self, options: dict[str, str], schema: StructType, *, checkpoint: str | None, overwrite: bool) -> None:
        self._rows = RowsToWrite.of(options, schema)
        if overwrite:
            raise ErrorCode.INVALID_CONFIG.error(
                f"A stream into table {self._rows.path} cannot be in complete mode, which replaces all rows each time;"
                " use append mode: rows of a primary key table replace the old ones of their keys."
            )
        self._given = SINK_STAGING_DIR.read(options)
        self._checkpoint = checkpoint
        if not self._given and not checkpoint:
            raise ErrorCode.INVALID_CONFIG.error(
                f"A stream into table {self._rows.path} needs the option 'checkpointLocation' or 'sink.staging.dir',"
                " a place that outlives the driver."
            )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedPart:
        """Stage the rows of one task."""
        query_id, batch_id = _task_property("sql.streaming.queryId"), _task_property("streaming.sql.batchId")
        with one_sentence():
            of_batch = None if batch_id is None else int(batch_id)
            return StagedPart(_stage(self._rows, iterator, self._directory(query_id), of_batch), query_id)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Append what the tasks staged, unless this batch was appended before."""
        sink = self._sink(messages)
        if sink is not None:
            with one_sentence():
                now = connection(self._rows.options).table(str(self._rows.path)).info
                new = [name for name in now.schema.names if name not in self._rows.info.schema.names]
                if new:
                    warn(self._rows.path, new, STREAM_WRITES_NULL)
                sink.commit(batchId, _parts(messages))

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """Drop what tasks staged; the batch comes again."""
        sink = self._sink(messages)
        if sink is not None:
            with one_sentence():
                sink.abort(_parts(messages))

    def _directory(self, query_id: str | None) -> str:
        return f"{self._given}/{query_id}" if self._given else f"{self._checkpoint}/{_SINK_DIRECTORY}"

    def _sink(self, messages: Sequence[WriterCommitMessage | None]) -> StagedSink | None:
        """Where the tasks staged; None when it is named after the query and no task says which."""
        ids = {message.query_id for message in messages if isinstance(message, StagedPart)}
        if self._given and not ids:
            return None
        rows = self._rows
        directory = self._directory(next(iter(ids), None))
        return StagedSink(connection(rows.options), str(rows.path), directory, columns=rows.columns)
