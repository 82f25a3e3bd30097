"""A snapshot as a stream of one micro-batch: the offset is the snapshot that was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from lakeward.spark.scripts.connectors.lake.lake_rows import LakeFiles, LakeSpec, rows_of, shares_of
from lakeward.spark.table.one_sentence import one_sentence

if TYPE_CHECKING:
    import pyarrow as pa


class SnapshotStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The rows of a snapshot, once."""

    def __init__(self, spec: LakeSpec) -> None:
        self._spec = spec

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Nothing was read."""
        return {"snapshot": None}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """All of it."""
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """The snapshot, unless one was read already."""
        del limit
        if start["snapshot"] is not None:
            return start
        with one_sentence():
            return {"snapshot": self._spec.choose(self._spec.open())}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """It ends in any case."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The files of the snapshot."""
        if start == end:
            return []
        with one_sentence():
            return shares_of(self._spec.open(), end["snapshot"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read some files."""
        assert isinstance(partition, LakeFiles)
        yield from rows_of(self._spec, partition.files)

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing is kept."""
