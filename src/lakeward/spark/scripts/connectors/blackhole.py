"""The connector `blackhole`: takes every row and keeps none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import Changes
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.option import OptionTable, Scope
from lakeward.spark.scripts.connectors.port import Begin, Rows, Sink, Source, Surroundings

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_OPTIONS = OptionTable(Scope.CONNECTOR)
_OPTIONS.inert("sink.parallelism")


class BlackholeConnector:
    """To see how fast a query is, or to run it for what it does on the way."""

    name = "blackhole"
    summary = "Takes every row and keeps none."
    options = _OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        del surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """There is nothing to make."""
        del table
        return ()

    def source(self, table: TableDefinition) -> Source:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be read: the connector 'blackhole' keeps no rows. Read the table they came from."
        )

    def sink(self, table: TableDefinition) -> Sink:
        """Takes everything."""
        del table
        return _Nowhere()


class _Nowhere:
    takes = Changes.CHANGELOG

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        del overwrite
        rows.frame.write.format("noop").mode("overwrite").save()

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        return begin(rows.frame).format("noop").start()
