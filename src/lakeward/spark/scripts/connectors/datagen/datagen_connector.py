"""The connector `datagen`: rows that are made up, as a stream at a pace or as a batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import Changes
from lakeward.language.statements.create_table import MetadataColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.connectors.datagen.datagen_options import (
    DATAGEN_OPTIONS,
    FIELDS_PREFIX,
    NUMBER_OF_ROWS,
    ROWS_PER_SECOND,
    SEED,
)
from lakeward.spark.scripts.connectors.datagen.datagen_rows import DatagenSpec
from lakeward.spark.scripts.connectors.datagen.datagen_source import FORMAT, SPEC, DatagenDataSource
from lakeward.spark.scripts.connectors.datagen.draws import seed_of
from lakeward.spark.scripts.connectors.datagen.recipes import recipes_of, rows_in_all
from lakeward.spark.scripts.connectors.no_streams import check_streams
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings
from lakeward.spark.setup.ingest_sources import register_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DatagenConnector:
    """To try things without data."""

    name = "datagen"
    summary = (
        "Rows that are made up: random values or sequences, as a stream at a pace, or as a batch. The same seed makes"
        " the same rows, and a stream that was stopped goes on with the row after the last one."
    )
    options = DATAGEN_OPTIONS

    def __init__(self, surroundings: Surroundings) -> None:
        del surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Read the options of the fields."""
        _spec(table)
        return ()

    def source(self, table: TableDefinition) -> Source:
        """The rows."""
        return DatagenSource(table)

    def sink(self, table: TableDefinition) -> Sink:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be written: the connector 'datagen' makes its rows up. Write to a table of another"
            " connector, such as 'fluss'."
        )


class DatagenSource:
    """Made-up rows of a table."""

    changes = Changes.APPEND

    def __init__(self, table: TableDefinition) -> None:
        self._table = table
        self._spec = _spec(table)

    @property
    def is_bounded(self) -> bool:
        """Whether a number of rows or a sequence ends them."""
        return self._spec.rows is not None

    def batch(self, spark: SparkSession) -> DataFrame:
        """All rows."""
        if self._spec.rows is None:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {self._table} has no end: its rows can be read as a stream (SET 'execution.runtime-mode' ="
                " 'streaming'), or give it 'number-of-rows', or a field with 'kind' = 'sequence'."
            )
        register_source(spark, DatagenDataSource)
        return spark.read.format(FORMAT).option(SPEC, self._spec.to_json()).load()

    def stream(self, spark: SparkSession) -> DataFrame:
        """Rows as they fall due."""
        check_streams(self._table)
        register_source(spark, DatagenDataSource)
        return spark.readStream.format(FORMAT).option(SPEC, self._spec.to_json()).load()

    def is_finished(self, end_offset: object) -> bool:
        """Whether all rows were made."""
        if self._spec.rows is None:
            return False
        offset = json.loads(end_offset) if isinstance(end_offset, str) else end_offset
        return self._spec.rows == 0 or (isinstance(offset, dict) and offset["rows"] >= self._spec.rows)


def _spec(table: TableDefinition) -> DatagenSpec:
    for column in table.columns:
        if isinstance(column, MetadataColumn):
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: the connector 'datagen' has no METADATA; make '{column.name}' a column of its own."
            )
    columns = tuple((column.name, column.type) for column in table.physical)
    recipes = recipes_of(columns, table.options)
    seed = SEED.read(table.options)
    return DatagenSpec(
        tuple((name, str(type_)) for name, type_ in columns),
        {key: value for key, value in table.options.items() if key.startswith(FIELDS_PREFIX)},
        seed_of(table.name) if seed is None else seed,
        ROWS_PER_SECOND.read(table.options),
        rows_in_all(recipes, NUMBER_OF_ROWS.read(table.options)),
    )
