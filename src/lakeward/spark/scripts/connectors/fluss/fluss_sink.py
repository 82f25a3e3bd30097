"""Rows into a table of a cluster: a batch is kept when the write returns, a stream is written exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.model.table import TableInfo
from lakeward.options.spark import (
    PARTITION_OVERWRITE,
    SINK_CHANGE_TYPE,
    SINK_COLUMNS,
    SINK_CUT_TIMES,
    SINK_STAGING_DIR,
    TABLE,
)
from lakeward.spark.scripts.connectors.fluss.fluss_options import FlussOptions
from lakeward.spark.scripts.connectors.fluss.spark_catalogs import spark_name
from lakeward.spark.scripts.connectors.fluss.table_origin import origin_of
from lakeward.spark.scripts.connectors.port import Begin, Rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_ANY_COLUMNS = {SINK_COLUMNS.key, SINK_CHANGE_TYPE.key}
_OF_WRITES = (SINK_COLUMNS.key, SINK_CUT_TIMES.key, SINK_STAGING_DIR.key, PARTITION_OVERWRITE.key)


class FlussSink:
    """A table of a cluster, to be written."""

    def __init__(self, options: FlussOptions, info: TableInfo, *, ignores_deletes: bool) -> None:
        self._options = options
        self._ignores_deletes = ignores_deletes
        given = {key: value for key, value in options.reading.items() if key in _OF_WRITES}
        self._writing = {SINK_CUT_TIMES.key: "true", **given}
        self._is_partitioned = info.descriptor.is_partitioned
        self.origin = origin_of(info)
        self.takes = Changes.UPSERT if info.schema.primary_key else Changes.APPEND

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        """Append, upsert, or put the rows in the place of those there are."""
        frame, settings = self._frame(rows), self._settings(rows)
        if _ANY_COLUMNS & settings.keys():  # only a table by options takes other columns than its own
            place = {**self._options.connection, TABLE.key: str(self._options.path)}
            mode = "overwrite" if overwrite else "append"
            frame.write.format("fluss").options(**place, **settings).mode(mode).save()
            return
        writer = frame.writeTo(spark_name(frame.sparkSession, self._options)).options(**settings)
        if not overwrite:
            writer.append()
        elif rows.partition or not self._replaces_partitions:
            writer.overwrite(_condition(frame, rows.partition))
        else:
            writer.overwritePartitions()

    @property
    def _replaces_partitions(self) -> bool:
        """Whether those partitions go that get rows; otherwise all do."""
        return self._is_partitioned and self._writing.get(PARTITION_OVERWRITE.key, "dynamic").lower() == "dynamic"

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        """Micro-batches, each of them once."""
        frame = self._frame(rows)
        return begin(frame).options(**self._settings(rows)).toTable(spark_name(frame.sparkSession, self._options))

    def _frame(self, rows: Rows) -> DataFrame:
        is_filtered = rows.has_changes and self._ignores_deletes
        return rows.frame.where(rows.frame[CHANGE_TYPE] != "delete") if is_filtered else rows.frame

    def _settings(self, rows: Rows) -> dict[str, str]:
        return {**self._writing, **({SINK_CHANGE_TYPE.key: CHANGE_TYPE} if rows.has_changes else {})}


def _condition(frame: DataFrame, partition: Mapping[str, str]) -> Column:
    """Which rows go: those of a partition, or, where none is named, all."""
    from pyspark.sql.functions import col, lit

    if not partition:
        return lit(True)  # noqa: FBT003 - a condition that holds for every row
    # Spark hands conditions on as they stand: a cast in one of them would hide its value.
    typed = [lit(text).cast(frame.schema[name].dataType) for name, text in partition.items()]
    (values,) = frame.sparkSession.range(1).select(*typed).collect()
    equal = [col(name) == lit(value) for name, value in zip(partition, values, strict=True)]
    return reduce(and_, equal)
