"""Rows as they fall due. An offset says how many rows were made, and when the last of them was due.

A micro-batch is the rows between two offsets, and its rows' times are counted back from the second: whoever reads it
again gets the same rows with the same times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from lakeward.runtime.clock import SystemClock
from lakeward.spark.scripts.connectors.datagen.datagen_rows import DatagenSpec, RowRange, make_rows, ranges

if TYPE_CHECKING:
    import pyarrow as pa


class DatagenStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Rows as they fall due, from where the query stood; time in which it did not run is not made up for."""

    def __init__(self, spec: DatagenSpec) -> None:
        self._spec = spec
        self._began: tuple[int, int] | None = None
        self._is_available_now = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """No rows yet."""
        return {"rows": 0, "ms": SystemClock().now_ms()}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Whatever is due."""
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """How many rows are due by now."""
        del limit
        now_ms = SystemClock().now_ms()
        if self._began is None:
            self._began = (start["rows"], now_ms)
        rows, began_ms = self._began
        due = rows + max(0, now_ms - began_ms) * self._spec.rows_per_second // 1000
        if self._spec.rows is not None:
            due = self._spec.rows if self._is_available_now else min(due, self._spec.rows)
        return start if due <= start["rows"] else {"rows": due, "ms": now_ms}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Of rows that end, all are there; of others, what is due."""
        self._is_available_now = True

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Equal shares of a micro-batch."""
        return ranges(start["rows"], end["rows"], end["ms"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Make the rows of one share."""
        assert isinstance(partition, RowRange)
        yield from make_rows(self._spec, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing is kept."""
