"""The connectors `kafka` and `upsert-kafka`."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.kafka_readers import Reading
from lakeward.spark.scripts.connectors.kafka.kafka_table import KAFKA_TABLE_OPTIONS, KafkaTable
from lakeward.spark.scripts.connectors.kafka.topic_sink import TopicSink
from lakeward.spark.scripts.connectors.kafka.topic_source import TopicSource
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings


class KafkaConnector:
    """Topics of Kafka."""

    name = "kafka"
    summary = (
        "Topics of Kafka. Rows are only added, or are the changes that the format tells of; with a primary key, written"
        " rows are upserts, and a delete is a message without a value."
    )
    options = KAFKA_TABLE_OPTIONS
    is_upsert = False

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Check what can be checked without a broker."""
        checked = self._table(table)
        schema, options = checked.reading()
        if rows.TOPIC.key not in options and rows.TOPIC_PATTERN.key not in options:
            raise ErrorCode.INVALID_TABLE.error(f"Table {table} needs the option 'topic' or 'topic-pattern'.")
        Reading(options, schema).check()
        return ()

    def source(self, table: TableDefinition) -> Source:
        """The topics to read."""
        return TopicSource(self._table(table))

    def sink(self, table: TableDefinition) -> Sink:
        """The topic to write."""
        return TopicSink(self._table(table), self._surroundings.write_error_line)

    def _table(self, table: TableDefinition) -> KafkaTable:
        return KafkaTable.of(table, self._surroundings.bootstrap_servers, is_upsert=self.is_upsert)


class UpsertKafkaConnector(KafkaConnector):
    """Topics that hold the last row of every key."""

    name = "upsert-kafka"
    summary = (
        "Topics of Kafka whose messages are upserts by the key; one without a value is a delete. The table needs a"
        " primary key, which the keys of messages hold."
    )
    is_upsert = True
