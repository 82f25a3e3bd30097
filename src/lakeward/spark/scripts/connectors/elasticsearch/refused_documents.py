"""Documents that the server refused: the job fails and says why, or they are counted, or they become dead letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.client import BOOTSTRAP_SERVERS
from lakeward.spark.scripts.connectors.elasticsearch import elasticsearch_options as rows
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.table.connections import connection

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

#: What is told of a refused document; `batch` says which write it was.
COLUMNS = {
    "batch": "STRING NOT NULL",
    "number": "BIGINT NOT NULL",
    "index_name": "STRING",
    "id": "STRING",
    "action": "STRING",
    "document": "STRING",
    "reason": "STRING",
}
_KEY = ("batch", "number")
_SHOWN = 300


class RefusedDocuments:
    """What becomes of them, as the options of a table say."""

    def __init__(self, table: TableDefinition, surroundings: Surroundings) -> None:
        self._name = str(table)
        self._mode = rows.FAILURE_HANDLER.read(table.options)
        self._path = rows.DEAD_LETTER_PATH.read(table.options)
        self._table = rows.DEAD_LETTER_TABLE.read(table.options)
        self._options = {BOOTSTRAP_SERVERS.key: surroundings.bootstrap_servers, **surroundings.client_options}
        self._tell: Callable[[str], None] = surroundings.write_error_line
        places = [place for place in (self._path, self._table) if place]
        if (self._mode == "dead-letter") != (len(places) == 1):
            raise ErrorCode.INVALID_CONFIG.error(
                f"Table {table}: '{rows.FAILURE_HANDLER.key}' = 'dead-letter' goes with one of"
                f" '{rows.DEAD_LETTER_PATH.key}' and '{rows.DEAD_LETTER_TABLE.key}'."
            )

    def take(self, spark: SparkSession, refused: Sequence[Row], batch: str) -> None:
        """Deal with some; dead letters of a batch that is done again take the place of those before."""
        if not refused:
            return
        if self._mode == "fail":
            raise self._error(refused)
        if self._path is not None:
            frame = spark.createDataFrame(self._letters(refused, batch), ", ".join(_spark_columns()))
            frame.coalesce(1).write.mode("overwrite").json(f"{self._path.rstrip('/')}/{batch}")
        elif self._table is not None:
            self._upsert(refused, batch)
        kept = "left out" if self._mode == "ignore" else "kept as dead letters"
        self._tell(f"Table {self._name}: {len(refused):,} documents were refused, and are {kept}. {refused[0].reason}")

    def _letters(self, refused: Sequence[Row], batch: str) -> list[tuple[object, ...]]:
        return [
            (batch, number, row.index_name, row.id, row.action, row.document, row.reason)
            for number, row in enumerate(refused)
        ]

    def _upsert(self, refused: Sequence[Row], batch: str) -> None:
        assert self._table is not None
        database, _, name = self._table.partition(".")
        if not name:
            raise ErrorCode.INVALID_CONFIG.error(f"'{rows.DEAD_LETTER_TABLE.key}' is written db.table.")
        conn = connection(self._options)
        conn.create_database(database, exist_ok=True)
        conn.create_table(self._table, COLUMNS, primary_key=_KEY, buckets=1, exist_ok=True)
        letters = [dict(zip(COLUMNS, row, strict=True)) for row in self._letters(refused, batch)]
        conn.table(self._table).upsert(letters)

    def _error(self, refused: Sequence[Row]) -> Exception:
        first = refused[0]
        which = f"id '{first.id}'" if first.id else f"document {(first.document or '')[:_SHOWN]}"
        return ErrorCode.INVALID_TABLE.error(
            f"Table {self._name}: {len(refused):,} documents were refused, the first ({which}, index"
            f" '{first.index_name}') with: {first.reason[:_SHOWN]}. Change the mapping or the query; or set"
            f" '{rows.FAILURE_HANDLER.key}' to 'dead-letter' or 'ignore' to go on without them."
        )


def _spark_columns() -> list[str]:
    return [f"{name} {'BIGINT' if name == 'number' else 'STRING'}" for name in COLUMNS]
