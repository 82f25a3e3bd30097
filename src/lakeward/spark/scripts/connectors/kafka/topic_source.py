"""Rows of topics: of what there is, and as a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.plan.shape.trees import quote
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.ground.offsets import Offsets
from lakeward.spark.ingest.kafka.kafka_source import FORMAT_NAME, KafkaDataSource
from lakeward.spark.scripts.connectors.kafka.kafka_table import ERROR, KafkaTable
from lakeward.spark.scripts.connectors.no_streams import check_streams
from lakeward.spark.scripts.jobs.stream_meter import SKIPPED
from lakeward.spark.setup.ingest_sources import register_source
from lakeward.spark.table.types import spark_schema, spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


class TopicSource:
    """The topics of a table, to be read."""

    def __init__(self, table: KafkaTable) -> None:
        self._table = table
        self.changes = table.changes
        where = table.options.get(rows.TOPIC.key) or table.options.get(rows.TOPIC_PATTERN.key)
        self.origin = f"topic {where} of {table.options.get(rows.BOOTSTRAP_SERVERS.key)}"

    @property
    def is_bounded(self) -> bool:
        """Whether a stream of it comes to an end."""
        return rows.BOUNDED_MODE.read(self._table.options) != "unbounded"

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows there are now."""
        frame = self._load(spark, spark.read)
        if ERROR in frame.columns:
            frame = frame.where(frame[ERROR].isNull())
        return frame.select(*self._columns(frame))

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows there are and those that will come; what cannot be read is counted where that is asked for."""
        from pyspark.sql.functions import count_if, lit

        check_streams(self._table.definition)
        frame = self._load(spark, spark.readStream)
        if ERROR in frame.columns:
            name = f"{SKIPPED} {self._table.definition}"
            frame = frame.observe(name, count_if(frame[ERROR].isNotNull()).alias(SKIPPED), lit(0).alias("_"))
            frame = frame.where(frame[ERROR].isNull())
        changes = [] if self.changes is Changes.APPEND else [frame[CHANGE_TYPE]]
        return frame.select(*changes, *self._columns(frame))

    def is_finished(self, end_offset: object) -> bool:
        """Whether a bounded stream has read all it should."""
        found = json.loads(end_offset) if isinstance(end_offset, str) else end_offset
        return isinstance(found, dict) and Offsets.of_json(found).is_finished

    def _load(self, spark: SparkSession, reader: Any) -> DataFrame:
        register_source(spark, KafkaDataSource)
        schema, options = self._table.reading()
        form = StructType.fromJson(spark_schema(schema))
        loaded: DataFrame = reader.format(FORMAT_NAME).schema(form).options(**options).load()
        return loaded

    def _columns(self, frame: DataFrame) -> list[Column]:
        """The table's own, in its order; metadata in the types that it has for them."""
        chosen = []
        for column in self._table.definition.columns:
            if isinstance(column, MetadataColumn):
                field = {"name": "f", "type": spark_type(column.type), "nullable": True, "metadata": {}}
                wanted = StructType.fromJson({"type": "struct", "fields": [field]}).fields[0].dataType
                chosen.append(frame[quote(column.name)].cast(wanted).alias(column.name))
            elif not isinstance(column, ComputedColumn):
                chosen.append(frame[quote(column.name)])
        return chosen
