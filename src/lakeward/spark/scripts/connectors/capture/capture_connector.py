"""The connectors `mysql-cdc` and `postgres-cdc`."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from lakeward.capture.databases import DatabaseKind
from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.option import OptionTable
from lakeward.spark.ingest.capture.capture_options import MAX_ROWS, PARALLELISM
from lakeward.spark.scripts.connectors.capture.capture_table import CaptureTable, check_metadata
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings


class CaptureConnector:
    """What both share. Definitions are checked against the database when they are first used, not before."""

    kind: ClassVar[DatabaseKind]
    name = ""
    summary = ""

    def __init__(self, surroundings: Surroundings) -> None:
        del surroundings

    @cached_property
    def options(self) -> OptionTable:
        """Those of the database, those of every stream of one, and how much is read at a time."""
        known = self.kind.options()
        for row in (PARALLELISM, MAX_ROWS):
            known.rows[row.key] = row
        return known

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Check what can be checked without the database."""
        check_metadata(table, self.kind)
        return ()

    def source(self, table: TableDefinition) -> Source:
        """The rows of the database's table, and its changes."""
        return CaptureTable(table, self.kind)

    def sink(self, table: TableDefinition) -> Sink:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be written: the connector '{self.name}' reads the changes of a database. Write to a"
            " table of another connector, such as 'fluss'."
        )


class MysqlConnector(CaptureConnector):
    """Tables of MySQL and MariaDB."""

    kind = DatabaseKind.MYSQL
    name = "mysql-cdc"
    summary = (
        "A table of MySQL or MariaDB: the rows there are, then every change from the binlog. Nothing is locked, no row"
        " is lost and none comes twice, also after a restart."
    )


class PostgresConnector(CaptureConnector):
    """Tables of PostgreSQL."""

    kind = DatabaseKind.POSTGRES
    name = "postgres-cdc"
    summary = (
        "A table of PostgreSQL: the rows there are, then every change by logical replication. Without 'slot.name' the"
        " replication slot is named after the table of the script."
    )
