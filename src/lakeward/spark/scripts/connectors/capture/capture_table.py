"""CaptureTable: a table of a script whose rows are in a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakeward.capture.databases import DatabaseKind
from lakeward.capture.fitting import check_fit
from lakeward.capture.port import SourceTable
from lakeward.capture.progress import Progress
from lakeward.capture.stream import Startup
from lakeward.capture.stream_options import stream_settings
from lakeward.errors import ErrorCode
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.statements.create_table import MetadataColumn, PhysicalColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import STRING, TypeRoot
from lakeward.model.schema import Column, Schema
from lakeward.spark.ingest.capture.capture_options import METADATA
from lakeward.spark.ingest.capture.captured_rows import DATABASE_NAME, SCHEMA_NAME, TABLE_NAME
from lakeward.spark.scripts.connectors.no_streams import check_streams
from lakeward.spark.scripts.connectors.registry import CONNECTOR
from lakeward.spark.setup.ingest_sources import register_sources
from lakeward.spark.table.types import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: What a checkpoint is of: not the address of the server, which may move.
_PLACES = ("database-name", "schema-name", "table-name", "tables")
_TEXTS = (TypeRoot.STRING, TypeRoot.CHAR)
_KEYS = {
    DatabaseKind.MYSQL: (DATABASE_NAME, TABLE_NAME),
    DatabaseKind.POSTGRES: (DATABASE_NAME, SCHEMA_NAME, TABLE_NAME),
}


class CaptureTable:
    """A table of a database, to be read."""

    def __init__(self, table: TableDefinition, kind: DatabaseKind) -> None:
        check_metadata(table, kind)
        self._table = table
        given = {key: value for key, value in table.options.items() if key != CONNECTOR}
        self._options = kind.options_of_stream(str(table), given)
        self._format = f"lakeward.{kind.name.lower()}"
        found = _tables_of(kind, self._options)
        for one in found:
            check_fit(Schema(tuple(Column(c.name, c.type) for c in table.physical)), one, f"Table {table}")
        self._has_before = all(one.has_before for one in found)
        self.is_bounded = stream_settings(self._options).startup is Startup.SNAPSHOT
        """Whether it is a copy without a stream."""
        self.changes = Changes.CHANGELOG if self._has_before else Changes.UPSERT
        if self.is_bounded:
            self.changes = Changes.APPEND
        if self.changes is Changes.UPSERT:
            _check_key(table, found)
        self.origin = ", ".join(str(self._options[key]) for key in _PLACES if key in self._options)

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows there are now."""
        schema, settings = self._schema(), self._settings
        return register_sources(spark).read.format(self._format).schema(schema).options(**settings).load()

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows there are and every change, or what the options say."""
        check_streams(self._table)
        schema, settings = self._schema(CHANGE_TYPE), self._settings
        frame = register_sources(spark).readStream.format(self._format).schema(schema).options(**settings).load()
        return frame.drop(CHANGE_TYPE) if self.is_bounded else frame

    def is_finished(self, end_offset: object) -> bool:
        """Whether a copy without a stream is complete."""
        offset = json.loads(end_offset) if isinstance(end_offset, str) else end_offset
        is_ours = isinstance(offset, dict) and "at" in offset
        return self.is_bounded and is_ours and Progress.of_json(offset).is_copied

    @property
    def _settings(self) -> dict[str, str]:
        """What the data source is told."""
        told = {column.name: column.key for column in self._table.columns if isinstance(column, MetadataColumn)}
        return {**self._options, METADATA.key: ",".join(f"{name}={key}" for name, key in told.items())}

    def _schema(self, *first: str) -> StructType:
        """The table's own columns; where a delete says no more than the key, others may be NULL in it."""
        from pyspark.sql.types import StructType

        columns = [Column(name, STRING().not_null()) for name in first]
        for column in self._table.columns:
            if isinstance(column, MetadataColumn):
                columns.append(Column(column.name, STRING()))
            elif isinstance(column, PhysicalColumn):
                is_whole = self._has_before or column.name in self._table.primary_key
                columns.append(Column(column.name, column.type if is_whole else column.type.as_nullable()))
        return StructType.fromJson(spark_schema(Schema.of(columns, self._table.primary_key)))


def check_metadata(table: TableDefinition, kind: DatabaseKind) -> None:
    """Refuse METADATA that there is none of."""
    for column in table.columns:
        if isinstance(column, MetadataColumn) and (column.key not in _KEYS[kind] or column.type.root not in _TEXTS):
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: there is no METADATA '{column.key}' of type {column.type} for column '{column.name}';"
                f" there are {', '.join(f'{key} STRING' for key in _KEYS[kind])}."
            )


def _tables_of(kind: DatabaseKind, options: Mapping[str, str]) -> Sequence[SourceTable]:
    database = kind.open(options, is_expected=False)
    try:
        return database.tables()
    finally:
        database.close()


def _check_key(table: TableDefinition, found: Sequence[SourceTable]) -> None:
    """Where changes do not say what was before, a row is known by its key: it must be the same here and there."""
    for one in found:
        if not one.has_before and set(one.schema.primary_key) != set(table.primary_key):
            key = ", ".join(one.schema.primary_key)
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table} needs PRIMARY KEY ({key}) NOT ENFORCED, the key of {one.id} in the database, whose"
                " changes do not say what was before. (ALTER TABLE … REPLICA IDENTITY FULL there makes them say so.)"
            )
