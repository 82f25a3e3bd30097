"""The stream reader of the Python data source: offsets and admission on the driver, splits in the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.streaming.datasource import ReadLimit as SparkLimit

from lakeward.options.spark import AUTO_COMMIT, MAX_BYTES, MAX_ROWS
from lakeward.query.stream.admission import ReadLimit
from lakeward.query.stream.stream import TableStream
from lakeward.query.stream.stream_offset import StreamOffset
from lakeward.spark.source.readers import TASKS_PER_CORE, SplitPartition, request_of, spark_batches
from lakeward.spark.table.connections import connection
from lakeward.spark.table.one_sentence import one_sentence

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class FlussStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a table as it grows. Everything that lasts is in the offsets, which Spark keeps in its checkpoint."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self._options = options
        self._request, self._wanted = request_of(options, schema)
        self._is_available_now = False
        self._available: StreamOffset | None = None
        self._group_has: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where a query without a checkpoint begins."""
        with one_sentence():
            self._group_has = self._stream().initial().to_json()  # nothing was read yet: nothing to tell the group
        return self._group_has

    def getDefaultReadLimit(self) -> SparkLimit:  # noqa: N802 - Spark's name
        """What maxRowsPerTrigger and maxBytesPerTrigger say; Spark can carry one of them, `latestOffset` heeds both."""
        rows, size = MAX_ROWS.read(self._options), MAX_BYTES.read(self._options)
        if rows is not None:
            return ReadMaxRows(rows)
        return ReadAllAvailable() if size is None else ReadMaxBytes(size)

    def latestOffset(self, start: dict[str, Any], limit: SparkLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """How far the next micro-batch goes. Everything before `start` has been written: the group is told so.

        Spark's own `commit` comes with the next batch only, and for the last batch of a query not at all.
        """
        self.commit(start)
        with one_sentence():
            stream, begin = self._stream(), StreamOffset.of_json(start)
            if self._is_available_now and self._available is None:
                self._available = stream.latest(begin)
            return stream.latest(begin, self._limit(limit), within=self._available).to_json()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """From the next question on, what is there then is all there is."""
        self._is_available_now = True

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Where the table ends, for the progress that Spark shows."""
        with one_sentence():
            return self._stream().head().to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The splits of a micro-batch, spread over tasks."""
        with one_sentence():
            plan = self._stream().plan(StreamOffset.of_json(start), StreamOffset.of_json(end))
            return [SplitPartition(splits) for splits in plan.tasks(self._request.parallelism * TASKS_PER_CORE)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read some splits."""
        if isinstance(partition, SplitPartition):
            yield from spark_batches(self._request, self._wanted, partition.splits)

    def commit(self, end: dict[str, Any]) -> None:
        """Tell the consumer group what has been read."""
        if end == self._group_has or not AUTO_COMMIT.read(self._options):
            return
        with one_sentence():
            self._stream().commit(StreamOffset.of_json(end))
        self._group_has = end

    def _stream(self) -> TableStream:
        return TableStream(connection(self._options, expected=True), self._request)

    def _limit(self, limit: SparkLimit) -> ReadLimit | None:
        if isinstance(limit, ReadAllAvailable):
            return None
        return ReadLimit(MAX_ROWS.read(self._options), MAX_BYTES.read(self._options))
