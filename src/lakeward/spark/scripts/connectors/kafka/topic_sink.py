"""Rows into a topic: a stream exactly once where the broker has transactions, and it says which it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.kafka_source import FORMAT_NAME, KafkaDataSource
from lakeward.spark.ingest.kafka.messages.records import RecordMaker
from lakeward.spark.ingest.kafka.sending import can_transact
from lakeward.spark.scripts.connectors.kafka.kafka_table import KafkaTable
from lakeward.spark.scripts.connectors.port import Begin, Rows
from lakeward.spark.setup.ingest_sources import register_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


class TopicSink:
    """The topic of a table, to be written."""

    def __init__(self, table: KafkaTable, tell: Callable[[str], None]) -> None:
        self._table, self._tell = table, tell
        self._topic = table.options.get(rows.TOPIC.key, "")
        if not self._topic or len(rows.TOPIC.read(table.options) or ()) > 1:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table.definition} cannot be written: give it one topic ('{rows.TOPIC.key}')."
            )
        self.origin = f"topic {self._topic} of {table.options.get(rows.BOOTSTRAP_SERVERS.key)}"
        has_changes = RecordMaker(table.physical, dict(table.options)).has_changes
        has_key = bool(table.definition.primary_key)
        self.takes = Changes.CHANGELOG if has_changes else Changes.UPSERT if has_key else Changes.APPEND

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        """Write bounded rows, each once unless a task fails and is repeated."""
        mode = "overwrite" if overwrite else "append"
        frame = self._frame(rows, is_one_task=rows.has_changes)
        frame.write.format(FORMAT_NAME).options(**self._table.options).mode(mode).save()

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        """Start to write a stream, and say how sure it is."""
        guarantee = self._guarantee()
        frame = self._frame(rows, is_one_task=rows.has_changes or guarantee == "exactly-once")
        options = {**self._table.options, "sink.delivery-guarantee": guarantee}
        return begin(frame).format(FORMAT_NAME).options(**options).start()

    def _guarantee(self) -> str:
        options = self._table.options
        given = rows.DELIVERY.read(options)
        if given in {"none", "at-least-once"}:
            self._tell(f"Rows go to topic '{self._topic}' at least once: after a failure some may come twice.")
            return given
        config = ClientConfig.of_options(options, f"Table {self._table.definition}")
        why = can_transact(config, rows.TRANSACTIONAL_PREFIX.read(options))
        if why is None:
            self._tell(
                f"Rows go to topic '{self._topic}' exactly once: a micro-batch is one transaction, seen by readers with"
                " isolation.level=read_committed when it is whole."
            )
            return "exactly-once"
        if given == "exactly-once":
            raise ErrorCode.INVALID_CONFIG.error(
                f"Topic '{self._topic}' cannot be written exactly once, the broker takes no transactions: {why}. Set"
                f" '{rows.DELIVERY.key}' to 'at-least-once', or mend the broker."
            )
        self._tell(
            f"Rows go to topic '{self._topic}' at least once, since the broker takes no transactions ({why}): after a"
            " failure some may come twice."
        )
        return "at-least-once"

    def _frame(self, given: Rows, *, is_one_task: bool) -> DataFrame:
        frame = given.frame
        register_source(frame.sparkSession, KafkaDataSource)
        if not given.has_changes and CHANGE_TYPE in frame.columns:
            frame = frame.drop(CHANGE_TYPE)
        return frame.coalesce(1) if is_one_task else frame
