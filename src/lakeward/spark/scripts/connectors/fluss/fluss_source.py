"""Rows of a table on a cluster: as they are now, or as a stream of rows or of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.plan.shape.trees import quote
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options.table import CHANGELOG_IMAGE, MERGE_ENGINE
from lakeward.query.request.views import COMMIT_TIMESTAMP, LOG_OFFSET, View, view_schema
from lakeward.spark.scripts.connectors.fluss.fluss_options import FlussOptions
from lakeward.spark.scripts.connectors.fluss.spark_catalogs import spark_name
from lakeward.spark.scripts.connectors.fluss.table_origin import origin_of
from lakeward.spark.table.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: Keys of metadata columns, and the column of `$changelog` that each stands for.
METADATA = {
    **dict.fromkeys(("offset", "log_offset", LOG_OFFSET), LOG_OFFSET),
    **dict.fromkeys(("timestamp", "commit_timestamp", COMMIT_TIMESTAMP), COMMIT_TIMESTAMP),
    **dict.fromkeys(("change_type", CHANGE_TYPE), CHANGE_TYPE),
}


class FlussSource:
    """A table of a cluster, to be read."""

    is_bounded = False

    def __init__(self, table: TableDefinition, options: FlussOptions, info: TableInfo) -> None:
        self._table = table
        self._options = options
        self._has_key = bool(info.schema.primary_key) and options.view is View.ROWS
        self.origin = origin_of(info)
        self._metadata = [column for column in table.columns if isinstance(column, MetadataColumn)]
        self.changes = changes_of(info) if options.view is View.ROWS else Changes.APPEND
        _check_columns(table, view_schema(info.schema, options.view))

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows there are now, in log and lake, or at the time that the options name."""
        if self._metadata and self._has_key:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {self._table}: '{self._metadata[0].name}' is METADATA of changes, and the rows of a table with"
                " a primary key do not keep it. Read it as a stream (SET 'execution.runtime-mode' = 'streaming'), or"
                " leave the column out."
            )
        view = View.CHANGELOG if self._metadata else self._options.view
        frame = spark.read.options(**self._options.reading).table(spark_name(spark, self._options, view))
        return frame.select(*self._columns(frame))

    def stream(self, spark: SparkSession) -> DataFrame:
        """From the beginning, or from where the options say; of a table with a primary key every change."""
        is_changes = self.changes is not Changes.APPEND
        view = View.CHANGELOG if is_changes or self._metadata else self._options.view
        frame = spark.readStream.options(**self._options.reading).table(spark_name(spark, self._options, view))
        return frame.select(*([frame[CHANGE_TYPE]] if is_changes else []), *self._columns(frame))

    def is_finished(self, end_offset: object) -> bool:
        """Never: more rows may come."""
        del end_offset
        return False

    def _columns(self, frame: DataFrame) -> list[Column]:
        """The table's own, in its order; metadata under the names and in the types that it has for them."""
        from pyspark.sql.types import StructType

        chosen = []
        for column in self._table.columns:
            if isinstance(column, MetadataColumn):
                field = {"name": "f", "type": spark_type(column.type), "nullable": True, "metadata": {}}
                wanted = StructType.fromJson({"type": "struct", "fields": [field]}).fields[0].dataType
                chosen.append(frame[METADATA[column.key]].cast(wanted).alias(column.name))
            elif not isinstance(column, ComputedColumn):
                chosen.append(frame[quote(column.name)])
        return chosen


def changes_of(info: TableInfo) -> Changes:
    """What a stream of a table's rows is."""
    properties = info.descriptor.properties
    if not info.schema.primary_key or MERGE_ENGINE.read(properties) == "first_row":
        return Changes.APPEND
    return Changes.UPSERT if CHANGELOG_IMAGE.read(properties) == "WAL" else Changes.CHANGELOG


def _check_columns(table: TableDefinition, schema: Schema) -> None:
    for column in table.physical:
        if column.name not in schema.names:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table} is said to have a column '{column.name}', and on the cluster it has none; its columns"
                f" are {', '.join(schema.names)}."
            )
    check_metadata(table)


def check_metadata(table: TableDefinition) -> None:
    """Refuse METADATA that there is not."""
    for told in table.columns:
        if isinstance(told, MetadataColumn) and told.key not in METADATA:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: there is no METADATA '{told.key}' for column '{told.name}'; there are"
                f" {', '.join(key for key in METADATA if not key.startswith('_'))}."
            )
