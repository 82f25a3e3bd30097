"""PipelineSource: the database of a pipeline, for whoever plans and for the stream."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from lakeward.capture.databases import DatabaseKind
from lakeward.capture.port import Database, SourceTable
from lakeward.capture.postgres.postgres_settings import slot_name_of
from lakeward.errors import ErrorCode
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.rows.sources import MAX_ROWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KINDS = {"mysql": DatabaseKind.MYSQL, "mariadb": DatabaseKind.MYSQL, "postgres": DatabaseKind.POSTGRES}
_FORM, _PARALLELISM, _SLOT = "form", "scan.parallelism", "slot.name"
#: Options of pipelines under the names that data sources have for them.
_OTHER_NAMES = {MAX_ROWS: "maxRowsPerTrigger"}


class PipelineSource:
    """Where the rows come from."""

    def __init__(self, definition: PipelineDefinition) -> None:
        self._definition = definition
        self._kind = _KINDS[definition.source.type]
        options = {_OTHER_NAMES.get(key, key): value for key, value in definition.source.options.items()}
        if self._kind is DatabaseKind.POSTGRES:
            options.setdefault(_SLOT, slot_name_of(definition.name))
        self._options = options

    def open(self, *, is_expected: bool = False) -> Database:
        """The database itself."""
        of_stream = {"maxRowsPerTrigger"}
        options = {key: value for key, value in self._options.items() if key not in of_stream}
        return self._kind.open(options, is_expected=is_expected)

    def tables(self) -> Sequence[SourceTable]:
        """The tables that the pipeline names; none is an error."""
        with closing(self.open()) as database:
            found = database.tables()
        if not found:
            patterns = ", ".join(pattern.text for pattern in self._definition.tables)
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"Pipeline '{self._definition.name}' names no table that is there: nothing matches {patterns}."
            )
        return found

    def check(self) -> None:
        """Refuse a server or a user with whom the stream would not begin."""
        with closing(self.open()) as database:
            database.check()

    def stream(self, spark: SparkSession) -> DataFrame:
        """Envelopes of everything that the pipeline names."""
        extra: dict[str, Any] = {_FORM: "envelopes"}
        if self._definition.parallelism is not None:
            extra[_PARALLELISM] = str(self._definition.parallelism)
        return spark.readStream.format(f"lakeward.{self._kind.name.lower()}").options(**self._options, **extra).load()
