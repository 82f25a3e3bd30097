"""The connectors `iceberg` and `paimon`: tables of a lake, read as they are there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import Changes
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.spark import AS_OF, SNAPSHOT_ID, TAG
from lakeward.spark.scripts.connectors.lake.lake_options import LAKE_OPTIONS, TABLE_NAME, lake_properties
from lakeward.spark.scripts.connectors.lake.lake_rows import LakeSpec
from lakeward.spark.scripts.connectors.lake.lake_source import FORMAT, SPEC, LakeDataSource
from lakeward.spark.scripts.connectors.no_streams import check_streams
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings
from lakeward.spark.setup.ingest_sources import register_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class LakeConnector:
    """What both lakes share."""

    options = LAKE_OPTIONS
    name = ""
    summary = ""

    def __init__(self, surroundings: Surroundings) -> None:
        del surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Check the definition; tables of a lake are made by tiering, or by its own tools."""
        LakeSource(table, self.name)
        return ()

    def source(self, table: TableDefinition) -> Source:
        """The rows of a snapshot."""
        return LakeSource(table, self.name)

    def sink(self, table: TableDefinition) -> Sink:
        """Refused."""
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} cannot be written: tables of a lake are written by tiering. Write to the table on the"
            " cluster, with 'table.datalake.enabled' = 'true'."
        )


class IcebergConnector(LakeConnector):
    """Tables of an Iceberg lake."""

    name = "iceberg"
    summary = "A table of an Iceberg lake, read as it is there; CREATE CATALOG with the type `iceberg` lists them."


class PaimonConnector(LakeConnector):
    """Tables of a Paimon lake."""

    name = "paimon"
    summary = "A table of a Paimon lake, read as it is there; CREATE CATALOG with the type `paimon` lists them."


class LakeSource:
    """A table of a lake, to be read."""

    is_bounded = True
    changes = Changes.APPEND

    def __init__(self, table: TableDefinition, format_name: str) -> None:
        for column in table.columns:
            if isinstance(column, MetadataColumn):
                raise ErrorCode.INVALID_TABLE.error(
                    f"Table {table}: tables of a lake have no METADATA; make '{column.name}' a column of its own."
                )
        self._table = table
        options = table.options
        self._spec = LakeSpec(
            format_name,
            lake_properties(options),
            TABLE_NAME.read(options) or f"{table.database}.{table.name}",
            tuple((c.name, str(c.type)) for c in table.columns if not isinstance(c, ComputedColumn)),
            SNAPSHOT_ID.read(options),
            TAG.read(options),
            AS_OF.read(options),
        )

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows of the newest snapshot, or of the one that options name."""
        register_source(spark, LakeDataSource)
        return spark.read.format(FORMAT).option(SPEC, self._spec.to_json()).load()

    def stream(self, spark: SparkSession) -> DataFrame:
        """The same rows, once."""
        check_streams(self._table)
        register_source(spark, LakeDataSource)
        return spark.readStream.format(FORMAT).option(SPEC, self._spec.to_json()).load()

    def is_finished(self, end_offset: object) -> bool:
        """Whether the snapshot was read."""
        offset = json.loads(end_offset) if isinstance(end_offset, str) else end_offset
        return isinstance(offset, dict) and offset["snapshot"] is not None
