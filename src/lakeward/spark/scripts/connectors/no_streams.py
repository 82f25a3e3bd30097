"""What a connector in Python says on a Spark that cannot stream from it."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.source.no_streams import has_streams


def check_streams(table: TableDefinition) -> None:
    """Refuse where Spark does not tell a Python data source where its stream stands, as 4.1 does not."""
    if not has_streams():
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"Table {table} cannot be read as a stream by this Spark: use Spark 4.3, or read it as a batch"
            " (SET 'execution.runtime-mode' = 'batch')."
        )
