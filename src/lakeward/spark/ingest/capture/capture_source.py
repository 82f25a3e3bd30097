"""The data sources `lakeward.mysql` and `lakeward.postgres`.

    spark.readStream.format("lakeward.postgres").options(hostname="db", username="…", password="…").option(
        "database-name", "shop").option("schema-name", "public").option("table-name", "orders").load()

Rows have `_change_type` and the columns of the table; with the option `form` = `envelopes` there are envelopes of all
tables that the options name. `spark.read` gives the rows as they are now.
"""

from __future__ import annotations

from typing import ClassVar

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from lakeward.capture.databases import DatabaseKind
from lakeward.capture.envelope import CHANGE_TYPE, ENVELOPES
from lakeward.capture.port import SourceTable
from lakeward.errors import ErrorCode
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow.arrow_types import schema_of_arrow
from lakeward.spark.ingest.capture.capture_options import FORM, CaptureOptions
from lakeward.spark.ingest.capture.capture_reader import CaptureReader
from lakeward.spark.ingest.capture.capture_stream import CaptureStreamReader
from lakeward.spark.ingest.capture.captured_rows import CapturedRows, readable_schema
from lakeward.spark.source.no_streams import NoStreamReader, has_streams
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.types import schema_of_spark, spark_schema


class CaptureDataSource(DataSource):
    """What both kinds of databases share."""

    kind: ClassVar[DatabaseKind]

    @classmethod
    def name(cls) -> str:
        """What `format(…)` calls it."""
        return f"lakeward.{cls.kind.name.lower()}"

    def schema(self) -> StructType:
        """The table's own columns after `_change_type`, or those of envelopes."""
        with one_sentence():
            options = self._options()
            schema = schema_of_arrow(ENVELOPES) if options.is_of_envelopes else _all_columns(_only_table(options))
            return StructType.fromJson(spark_schema(schema))

    def reader(self, schema: StructType) -> DataSourceReader:
        """The rows as they are when the read is planned."""
        with one_sentence():
            options = self._options()
            return CaptureReader(options, _rows_of(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The rows there are and those that will come."""
        if not has_streams():
            return NoStreamReader()
        with one_sentence():
            options = self._options()
            rows = _rows_of(options, schema)
            _check_changes(rows)
            return CaptureStreamReader(options, rows)

    def _options(self) -> CaptureOptions:
        return CaptureOptions.of(self.kind, self.options)


class MysqlDataSource(CaptureDataSource):
    """Tables of MySQL and MariaDB."""

    kind = DatabaseKind.MYSQL


class PostgresDataSource(CaptureDataSource):
    """Tables of PostgreSQL."""

    kind = DatabaseKind.POSTGRES


def _only_table(options: CaptureOptions) -> SourceTable:
    database = options.open(is_expected=False)
    try:
        tables = database.tables()
    finally:
        database.close()
    if len(tables) == 1:
        return tables[0]
    names = ", ".join(str(table.id) for table in tables[:10])
    raise ErrorCode.INVALID_CONFIG.error(
        f"The options name {len(tables)} tables ({names}), and rows are those of one: name one table, declare the"
        f" columns that all of them have with .schema(…), or read envelopes of all with '{FORM.key}' = 'envelopes'."
    )


def _all_columns(table: SourceTable) -> Schema:
    return Schema((Column(CHANGE_TYPE, STRING().not_null()), *readable_schema(table).columns))


def _rows_of(options: CaptureOptions, schema: StructType) -> CapturedRows | None:
    """How rows are shown; None: as envelopes."""
    if options.is_of_envelopes:
        return None
    return CapturedRows(schema_of_spark(schema.json()), options.metadata, options.database_name)


def _check_changes(rows: CapturedRows | None) -> None:
    if rows is not None and CHANGE_TYPE not in rows.declared.names:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The schema that was given has no column {CHANGE_TYPE} STRING: without it, deletes of a stream would look"
            " like rows."
        )
