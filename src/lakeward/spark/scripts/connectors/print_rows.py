"""The connector `print`: every row is a line, as `+I[1, a]`, written by the driver in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.kinds import TEXT
from lakeward.options.option import OptionTable, Scope
from lakeward.spark.scripts.connectors.port import Begin, Rows, Sink, Source, Surroundings
from lakeward.spark.scripts.connectors.row_text import row_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery

PRINT_OPTIONS = OptionTable(Scope.CONNECTOR)
_IDENTIFIER = PRINT_OPTIONS.optional("print-identifier", TEXT, "What every line begins with, before `> `.")
_STANDARD_ERROR = PRINT_OPTIONS.switch("standard-error", "Whether lines go to the standard error instead.")
PRINT_OPTIONS.inert("sink.parallelism")


class PrintConnector:
    """To see rows go by."""

    name = "print"
    summary = "Writes every row as a line, such as `+I[1, a]`, by the driver."
    options = PRINT_OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """There is nothing to make."""
        del table
        return ()

    def source(self, table: TableDefinition) -> Source:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be read: the connector 'print' keeps no rows. Read the table they came from."
        )

    def sink(self, table: TableDefinition) -> Sink:
        """Lines to the script's output."""
        is_error = _STANDARD_ERROR.read(table.options)
        write = self._surroundings.write_error_line if is_error else self._surroundings.write_line
        return _Lines(_IDENTIFIER.read(table.options), write)


class _Lines:
    takes = Changes.CHANGELOG

    def __init__(self, identifier: str | None, write: Callable[[str], None]) -> None:
        self._head = f"{identifier}> " if identifier else ""
        self._write = write

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        del overwrite
        self._print(rows.frame, rows.frame.toLocalIterator())

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        def print_batch(frame: DataFrame, batch_id: int) -> None:
            del batch_id
            self._print(frame, frame.collect())  # in one job, since state is kept by it

        return begin(rows.frame).foreachBatch(print_batch).start()

    def _print(self, frame: DataFrame, rows: Iterable[Row]) -> None:
        change_at = frame.columns.index(CHANGE_TYPE) if CHANGE_TYPE in frame.columns else None
        types = [field.dataType for field in frame.schema.fields if field.name != CHANGE_TYPE]
        for row in rows:
            values = list(row)
            change = "insert" if change_at is None else values.pop(change_at)
            self._write(self._head + row_text(values, types, change))
