"""The connector `fluss`: a table of a cluster, made by CREATE TABLE where it is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode, NotFoundError
from lakeward.language.statements.define import TableChange
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.table import TableInfo
from lakeward.query.request.views import View
from lakeward.spark.catalog.replacing import create
from lakeward.spark.scripts.connectors.fluss.fluss_options import FLUSS_OPTIONS, SINK_IGNORE_DELETE, FlussOptions
from lakeward.spark.scripts.connectors.fluss.fluss_sink import FlussSink
from lakeward.spark.scripts.connectors.fluss.fluss_source import FlussSource, check_metadata
from lakeward.spark.scripts.connectors.fluss.new_table import ClusterLimits, check_same, new_table
from lakeward.spark.scripts.connectors.fluss.spark_catalogs import spark_name
from lakeward.spark.scripts.connectors.fluss.table_changes import alter
from lakeward.spark.scripts.connectors.lookup_handle import LookupHandle
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings
from lakeward.spark.table.connections import connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FlussConnector:
    """Tables of Lakeward and Apache Fluss."""

    name = "fluss"
    summary = (
        "A table on a cluster of Lakeward or Apache Fluss: a log, or rows by primary key. CREATE TABLE makes it where"
        " it is absent. A table without 'connector' is one of these."
    )
    options = FLUSS_OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Make the table, and its database, where they are absent; refuse one that is there and is another."""
        check_metadata(table)
        options = self.options_of(table)
        conn = connection(options.connection)
        wanted = new_table(table, options.properties, ClusterLimits.of(conn))
        found = _find(conn, options)
        if found is not None:
            check_same(table, wanted.descriptor, found, f"fluss.{options.path}")
            return ()
        conn.create_database(options.path.database, exist_ok=True)
        create(conn, options.path, wanted.descriptor)
        return wanted.notices

    def source(self, table: TableDefinition) -> Source:
        """The table's rows or changes."""
        return FlussSource(table, self.options_of(table), self.info_of(table))

    def sink(self, table: TableDefinition) -> Sink:
        """Into the table."""
        options = self.options_of(table)
        if options.view is not View.ROWS:
            raise ErrorCode.INVALID_TABLE.error(
                f"'{options.path}${options.view}' shows something of table {options.path}, and cannot be written to."
            )
        ignores_deletes = SINK_IGNORE_DELETE.read(table.options)
        return FlussSink(options, self.info_of(table), ignores_deletes=ignores_deletes)

    def alter(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Make what of a change the cluster stores; sentences that the user should read."""
        options = self.options_of(table)
        return alter(connection(options.connection), options.path, change)

    def stays(self, table: TableDefinition) -> str:
        """What there is after a definition of the table was forgotten."""
        options = self.options_of(table)
        if options.bootstrap != self._surroundings.bootstrap_servers:
            return f"{table} is forgotten; table {options.path} stays on the cluster at {options.bootstrap}."
        way = f"DROP TABLE fluss.{options.path} drops it"
        return f"{table} is forgotten; table {options.path} stays on the cluster: {way}."

    def partitions(self, table: TableDefinition) -> list[dict[str, str]]:
        """The partitions there are: key and value."""
        options = self.options_of(table)
        return [dict(one.spec) for one in connection(options.connection).table(str(options.path)).partitions()]

    def lookup(self, table: TableDefinition) -> LookupHandle | None:
        """The table to look rows up in by key; None where it has none."""
        options = self.options_of(table)
        info = self.info_of(table)
        if not info.schema.primary_key:
            return None
        remembered = {key: value for key, value in options.reading.items() if key.startswith("lookup.")}
        bucket_key = info.descriptor.normalize().bucket_keys
        reached = {**options.connection, **remembered}
        return LookupHandle(str(options.path), info.schema.primary_key, bucket_key, reached)

    def options_of(self, table: TableDefinition) -> FlussOptions:
        """Where the table is, and how it is read and written; its `connection` is for lookups."""
        return FlussOptions.of(table, self._surroundings)

    def spark_name(self, spark: SparkSession, table: TableDefinition) -> str:
        """The table in Spark's SQL, for UPDATE, DELETE, MERGE and lookups."""
        return spark_name(spark, self.options_of(table))

    def info_of(self, table: TableDefinition) -> TableInfo:
        """The table as the cluster has it."""
        options = self.options_of(table)
        found = _find(connection(options.connection), options)
        if found is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"Table {options.path}, which {table} stands for, is not on the cluster at {options.bootstrap}; it was"
                " dropped there, or never made. CREATE TABLE makes it."
            )
        return found


def _find(conn: Connection, options: FlussOptions) -> TableInfo | None:
    try:
        return conn.table(str(options.path)).info
    except NotFoundError:
        return None
