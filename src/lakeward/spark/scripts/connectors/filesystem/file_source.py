"""Rows of files: of those there are, and as a stream of those that come."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import Changes
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column as StoredColumn
from lakeward.model.schema import Schema
from lakeward.spark.scripts.connectors.filesystem.directory import Directory
from lakeward.spark.scripts.connectors.filesystem.file_formats import (
    CORRUPT,
    directory_of,
    ignores_errors,
    read_options,
    spark_format,
)
from lakeward.spark.scripts.connectors.filesystem.filesystem_options import MONITOR_INTERVAL
from lakeward.spark.table.types import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Keys of metadata columns, and what Spark calls them.
METADATA = {
    "file.path": "file_path",
    "file.name": "file_name",
    "file.size": "file_size",
    "file.modification-time": "file_modification_time",
}


class FileSource:
    """The files of a directory."""

    changes = Changes.APPEND

    def __init__(self, table: TableDefinition) -> None:
        self._table = table
        self._format = spark_format(table)
        self._directory = directory_of(table)
        self._options = read_options(table)
        self._ignores_errors = ignores_errors(table)
        _check_metadata(table)

    @property
    def is_bounded(self) -> bool:
        """Whether a stream ends with the files that are there."""
        return MONITOR_INTERVAL.read(self._table.options) is None

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows of all files."""
        self._check_there(spark)
        reader = spark.read.format(self._format).schema(self._schema()).options(**self._options)
        return self._rows(reader.load(self._directory))

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows of all files, and of those that come; a file is read once."""
        self._check_there(spark)
        reader = spark.readStream.format(self._format).schema(self._schema()).options(**self._options)
        return self._rows(reader.load(self._directory))

    def is_finished(self, end_offset: object) -> bool:
        """A micro-batch has all files that were there when it began."""
        del end_offset
        return self.is_bounded

    def _check_there(self, spark: SparkSession) -> None:
        if not Directory(spark, self._directory).exists():
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {self._table}: there is no {self._directory}; put files there, or write to the table first."
            )

    def _schema(self) -> StructType:
        from pyspark.sql.types import StructType

        columns = [StoredColumn(column.name, column.type.as_nullable()) for column in self._table.physical]
        if self._format == "text":
            columns = [
                column if column.name in self._table.partitioned_by else StoredColumn(column.name, STRING())
                for column in columns
            ]
        if self._ignores_errors:
            columns.append(StoredColumn(CORRUPT, STRING()))
        return StructType.fromJson(spark_schema(Schema(tuple(columns))))

    def _rows(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as of

        if self._ignores_errors:
            stored = [c.name for c in self._table.physical if c.name not in self._table.partitioned_by]
            has_value = [of.col(f"`{name}`").isNotNull() for name in stored]
            frame = frame.where(reduce(or_, has_value, of.col(CORRUPT).isNull()))
        return frame.select(*self._columns())

    def _columns(self) -> list[Column]:
        from pyspark.sql import functions as of
        from pyspark.sql.types import StructType

        chosen = []
        for column in self._table.columns:
            if isinstance(column, ComputedColumn):
                continue
            whole = spark_schema(Schema((StoredColumn(column.name, column.type),)))
            wanted = StructType.fromJson(whole).fields[0].dataType
            name = f"_metadata.{METADATA[column.key]}" if isinstance(column, MetadataColumn) else f"`{column.name}`"
            chosen.append(of.col(name).cast(wanted).alias(column.name))
        return chosen


def _check_metadata(table: TableDefinition) -> None:
    for column in table.columns:
        if isinstance(column, MetadataColumn) and column.key not in METADATA:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: there is no METADATA '{column.key}' for column '{column.name}'; there are"
                f" {', '.join(METADATA)}."
            )
