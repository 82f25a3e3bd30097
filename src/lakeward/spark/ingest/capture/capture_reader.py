"""The rows of a database as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from lakeward.capture.envelope import seal
from lakeward.capture.port import Chunk
from lakeward.capture.progress import ChangeWork, ChunkWork, Work
from lakeward.spark.ingest.capture.capture_options import CaptureOptions
from lakeward.spark.ingest.capture.captured_rows import CapturedRows, join_batches
from lakeward.spark.ingest.capture.kept_databases import leave_database, take_database
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class CapturePartition(InputPartition):
    """What one task reads."""

    work: Work


class CaptureReader(DataSourceReader):
    """The rows of each table as of one moment, read by one task. `rows` is None where envelopes are wanted."""

    def __init__(self, options: CaptureOptions, rows: CapturedRows | None) -> None:
        self._options = options
        self._rows = rows

    def partitions(self) -> list[InputPartition]:
        """The tables."""
        with one_sentence():
            database = self._options.open(is_expected=False)
            try:
                tables = database.tables()
            finally:
                database.close()
        return [CapturePartition(ChunkWork(table, (Chunk(0),), None)) for table in tables]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a table."""
        assert isinstance(partition, CapturePartition)
        yield from read_work(self._options, self._rows, partition.work)


def read_work(options: CaptureOptions, rows: CapturedRows | None, work: Work) -> Iterator[pa.RecordBatch]:
    """The batches of some work: rows in their columns, or envelopes."""
    is_stream = isinstance(work, ChangeWork)
    with one_sentence():
        database = take_database(options) if is_stream else options.open()
    is_whole = False
    try:
        events = options.stream_of(database).read(work)
        batches = seal(events) if rows is None else rows.batches(events)
        yield from each_in_one_sentence(join_batches(batches))
        is_whole = True
    finally:
        if is_whole and is_stream:
            leave_database(options, database)
        else:
            database.close()
