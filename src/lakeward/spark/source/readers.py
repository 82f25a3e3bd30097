"""Readers of the Python data source: a bounded read, planned on the driver and read by tasks, batch by batch."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from lakeward.model.schema import Schema
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import Split
from lakeward.query.read.read import read_splits
from lakeward.query.request.request import ReadRequest
from lakeward.spark.table.chosen_table import ChosenTable
from lakeward.spark.table.connections import connection
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence
from lakeward.spark.table.pushed_filters import filters_of
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

TASKS_PER_CORE = 4
_PUSHING_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"


@dataclass
class SplitPartition(InputPartition):
    """What one task reads."""

    splits: list[Split]


def reader_of(options: dict[str, str], schema: StructType) -> FlussReader:
    """A reader that takes filters where Spark is about to push some, else one that does not.

    Spark refuses every read by a reader that takes filters unless spark.sql.python.filterPushdown.enabled is on, and
    nothing tells a data source whether it is; but filters are pushed by a worker of their own.
    """
    kind = PushingReader if _PUSHING_WORKER in sys.modules else FlussReader
    return kind(*request_of(options, schema))


def request_of(options: dict[str, str], schema: StructType) -> tuple[ReadRequest, Schema]:
    """The read of a DataFrame's columns, and these columns as Spark wants them."""
    chosen = ChosenTable.of(options)
    wanted = chosen.columns_for(schema)
    cores = os.cpu_count() or 1
    return ReadRequest(chosen.path, chosen.view, wanted.names, options=options, parallelism=cores), wanted


def spark_batches(request: ReadRequest, wanted: Schema, splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
    """The rows of some splits in Spark's types."""
    target = spark_arrow_schema(wanted)
    with one_sentence():
        batches = read_splits(connection(request.options, expected=True), request, splits)
    for batch in each_in_one_sentence(batches):
        yield to_spark(batch, target)


class FlussReader(DataSourceReader):
    """Reads a table up to where it ends when the read is planned."""

    def __init__(self, request: ReadRequest, wanted: Schema) -> None:
        self._request = request
        self._wanted = wanted

    def partitions(self) -> list[InputPartition]:
        """Plan: which stretches of which buckets are read, spread over tasks."""
        with one_sentence():
            plan = plan_read(connection(self._request.options), self._request)
        return [SplitPartition(splits) for splits in plan.tasks(self._request.parallelism * TASKS_PER_CORE)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one split; Spark makes up an empty partition when there is none."""
        if isinstance(partition, SplitPartition):
            yield from spark_batches(self._request, self._wanted, partition.splits)


class PushingReader(FlussReader):
    """The same, with filters that make the read smaller."""

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:  # noqa: N802 - Spark's name
        """Take what helps; all are given back, to be evaluated on the rows."""
        self._request = replace(self._request, filters=filters_of(filters))
        return filters
