"""Changes of a database as a stream. The offset is the progress of the capture; nothing else is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from lakeward.capture.port import Database, Position
from lakeward.capture.progress import Progress, work_between
from lakeward.spark.ingest.capture.capture_options import CaptureOptions
from lakeward.spark.ingest.capture.capture_reader import CapturePartition, read_work
from lakeward.spark.ingest.capture.captured_rows import CapturedRows
from lakeward.spark.table.one_sentence import one_sentence

if TYPE_CHECKING:
    import pyarrow as pa


class CaptureStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Copies tables and follows them. `rows` is None where envelopes are wanted."""

    def __init__(self, options: CaptureOptions, rows: CapturedRows | None) -> None:
        self._options = options
        self._rows = rows
        self._database: Database | None = None
        self._is_available_now = False
        self._until: Position | None = None
        self._released: Position | None = None
        self._last = Progress()

    def __getstate__(self) -> dict[str, Any]:
        """Connections stay where they were made."""
        return {**self.__dict__, "_database": None}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Nothing has begun: where a stream begins stands in the first offset after this one."""
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """What maxRowsPerTrigger says."""
        rows = self._options.rows_max
        return ReadAllAvailable() if rows is None else ReadMaxRows(rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """How far the next micro-batch goes. Everything before `start` has been written."""
        self.commit(start)
        with one_sentence():
            begin, database = Progress.of_json(start), self._open_once()
            if self._is_available_now and self._until is None and begin.has_begun:
                self._until = database.now()
            rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
            end = self._options.stream_of(database).advance(begin, rows, self._until)
            self._last = end
            return start if end == begin else end.to_json()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """From the next question on, what is there then is all there is."""
        self._is_available_now = True

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Where the database ends, how far behind the stream is, and what the server keeps for it."""
        if not self._last.has_begun:
            return None
        with one_sentence():
            database = self._open_once()
            stream = self._options.stream_of(database)
            return {
                "at": dict(database.now()),
                "lagMs": stream.lag_ms(self._last),
                "heldBytes": database.held_bytes(),
                "phase": self._last.phase,
            }

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Chunks spread over tasks, or one task for all changes."""
        work = work_between(Progress.of_json(start), Progress.of_json(end), self._options.tasks)
        return [CapturePartition(one) for one in work]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read some chunks or some changes."""
        assert isinstance(partition, CapturePartition)
        yield from read_work(self._options, self._rows, partition.work)

    def commit(self, end: dict[str, Any]) -> None:
        """What was committed up to here will not be asked for again."""
        at = Progress.of_json(end).at
        if at is not None and at != self._released:
            with one_sentence():
                self._open_once().release(at)
            self._released = at

    def stop(self) -> None:
        """End the connections."""
        if self._database is not None:
            self._database.close()

    def _open_once(self) -> Database:
        if self._database is None:
            self._database = self._options.open()
        return self._database
