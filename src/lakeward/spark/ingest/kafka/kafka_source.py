"""The data source `lakeward.kafka`: topics as rows, in Kafka's own columns or in those of a schema and a format.

spark.readStream.format("lakeward.kafka").option("properties.bootstrap.servers", "…").option("topic", "events")
    .option("format", "json").schema("id BIGINT, name STRING").load()
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.options.spark import SPARK_OWN
from lakeward.spark.ingest.kafka.ground.kafka_options import INCLUDE_HEADERS, KAFKA_OPTIONS, PROPERTIES
from lakeward.spark.ingest.kafka.kafka_readers import KafkaReader
from lakeward.spark.ingest.kafka.kafka_writers import KafkaStreamWriter, KafkaWriter
from lakeward.spark.ingest.kafka.messages.table_shape import value_format
from lakeward.spark.source.no_streams import NoStreamReader, has_streams
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.types import schema_of_spark, spark_schema

FORMAT_NAME = "lakeward.kafka"
#: What Spark's own source has.
_RAW = {
    "key": "BYTES",
    "value": "BYTES",
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP_LTZ(6)",
    "timestampType": "INT",
}
_HEADERS = "ARRAY<ROW<`key` STRING, `value` BYTES>>"
_OWN = frozenset(name.lower() for name in SPARK_OWN) | {"path"}
_BY_LOWER = {name.lower(): name for name in (*KAFKA_OPTIONS.rows, *KAFKA_OPTIONS.aliases)}
_THEIR_PREFIX = "kafka."


class KafkaDataSource(DataSource):
    """Topics of Kafka, read and written by librdkafka."""

    @classmethod
    def name(cls) -> str:
        """What `format(…)` calls it."""
        return FORMAT_NAME

    def schema(self) -> StructType:
        """Kafka's own columns; others need a schema."""
        with one_sentence():
            options = source_options(self.options)
            if value_format(options) is not None:
                raise ErrorCode.INVALID_CONFIG.error(
                    'Messages do not say which columns they hold: give them with .schema("id BIGINT, name STRING").'
                )
            columns = _RAW | ({"headers": _HEADERS} if INCLUDE_HEADERS.read(options) else {})
            raw = Schema.of([(name, parse_type(type_)) for name, type_ in columns.items()])
            return StructType.fromJson(spark_schema(raw))

    def reader(self, schema: StructType) -> DataSourceReader:
        """What there is when the read is planned."""
        with one_sentence():
            return KafkaReader(source_options(self.options), schema_of_spark(schema.json()))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """What there is, and what comes."""
        if not has_streams():
            return NoStreamReader()
        from lakeward.spark.ingest.kafka.kafka_stream import KafkaStreamReader

        with one_sentence():
            return KafkaStreamReader(source_options(self.options), schema_of_spark(schema.json()))

    def writer(self, schema: StructType, overwrite: bool) -> KafkaWriter:
        """Appends rows to a topic."""
        with one_sentence():
            return KafkaWriter(source_options(self.options), schema_of_spark(schema.json()), overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> KafkaStreamWriter:  # noqa: N802 - Spark's name
        """Appends micro-batches to a topic."""
        with one_sentence():
            return KafkaStreamWriter(source_options(self.options), schema_of_spark(schema.json()), overwrite=overwrite)


def source_options(given: Mapping[str, str]) -> dict[str, str]:
    """Options under their own names, checked; Spark's own are left out, those of its Kafka source are understood."""
    options: dict[str, str] = {}
    for key, value in given.items():
        if key.lower() in _OWN:
            continue
        if key.lower().startswith(_THEIR_PREFIX):
            key = PROPERTIES + key[len(_THEIR_PREFIX) :]
        if key.lower() == "startingoffsets":
            options.update(_starting(value))
            continue
        name, text = KAFKA_OPTIONS.canonical(_BY_LOWER.get(key.lower(), key), str(value))
        options[name] = text
    KAFKA_OPTIONS.check(options)
    return options


def _starting(text: str) -> dict[str, str]:
    """`startingOffsets` of Spark's own source."""
    if text.lstrip().startswith("{"):
        return {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": text}
    return {"scan.startup.mode": f"{text.strip()}-offset"}
