"""Writers: tasks send their rows; with `exactly-once` a micro-batch is one transaction of one task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.messages.records import RecordMaker
from lakeward.spark.ingest.kafka.sending import Sending, Transaction
from lakeward.spark.table.one_sentence import one_sentence

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Sent(WriterCommitMessage):
    """What a task tells the driver."""

    rows: int


@dataclass(frozen=True)
class Writing:
    """What a write needs, on the driver and in tasks; travels to tasks whole."""

    options: dict[str, str]
    schema: Schema

    def __repr__(self) -> str:
        return f"Writing(topic {self.topic!r})"

    @property
    def config(self) -> ClientConfig:
        """How to reach the brokers."""
        return ClientConfig.of_options(self.options, f"The sink of topic {self.topic!r}")

    @property
    def topic(self) -> str | None:
        """Where rows go that do not say it themselves."""
        return next(iter(rows.TOPIC.read(self.options) or ()), None)

    @property
    def is_exact(self) -> bool:
        """Whether a micro-batch is a transaction."""
        return rows.DELIVERY.read(self.options) == "exactly-once"

    def check(self, *, overwrite: bool) -> None:
        """Refuse what does not fit together."""
        if overwrite:
            raise ErrorCode.INVALID_CONFIG.error(
                f"Rows of topic {self.topic!r} cannot be replaced: a topic only grows. Use append mode; rows by key"
                " stand for those before them."
            )
        if len(rows.TOPIC.read(self.options) or ()) > 1 or rows.TOPIC_PATTERN.key in self.options:
            raise ErrorCode.INVALID_CONFIG.error("Rows can be written to one topic only: give 'topic' one name.")
        if self.is_exact and self.topic is None:
            raise ErrorCode.INVALID_CONFIG.error("'exactly-once' needs the option 'topic'.")
        _ = self.config
        RecordMaker(self.schema, self.options)

    def away_s(self) -> float:
        """How long brokers are waited for."""
        return rows.AWAY_TIMEOUT.read(self.options) / 1000

    def send(self, batches: Iterator[pa.RecordBatch]) -> Sent:
        """At least once: all rows are kept when this returns."""
        is_random = rows.PARTITIONER.read(self.options) == "round-robin"
        sending = Sending(self.config, self.topic, self.away_s(), **({"partitioner": "random"} if is_random else {}))
        count = self._send(sending, batches)
        sending.flush()
        return Sent(count)

    def send_once(self, batches: Iterator[pa.RecordBatch], name: str, batch_id: int) -> Sent:
        """Exactly once: one transaction, unless it was committed before."""
        assert self.topic is not None
        timeout_ms = rows.TRANSACTION_TIMEOUT.read(self.options)
        transaction = Transaction(self.config, self.topic, name, timeout_ms, self.away_s())
        if not transaction.begin(batch_id):
            return Sent(0)
        try:
            count = self._send(transaction.sending, batches)
            transaction.commit(batch_id)
        except BaseException:
            transaction.abort()
            raise
        return Sent(count)

    def _send(self, sending: Sending, batches: Iterator[pa.RecordBatch]) -> int:
        maker, count = RecordMaker(self.schema, self.options), 0
        for batch in batches:
            sending.send(maker.records(batch))
            count += batch.num_rows
        return count


class KafkaWriter(DataSourceArrowWriter):
    """Appends a DataFrame to a topic, at least once."""

    def __init__(self, options: Mapping[str, str], schema: Schema, *, overwrite: bool) -> None:
        self._writing = Writing(dict(options), schema)
        self._writing.check(overwrite=overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sent:
        """Send the rows of one task."""
        with one_sentence():
            return self._writing.send(iterator)


class KafkaStreamWriter(DataSourceStreamArrowWriter):
    """Appends micro-batches to a topic."""

    def __init__(self, options: Mapping[str, str], schema: Schema, *, overwrite: bool) -> None:
        self._writing = Writing(dict(options), schema)
        self._writing.check(overwrite=overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sent:
        """Send the rows of one task."""
        with one_sentence():
            if not self._writing.is_exact:
                return self._writing.send(iterator)
            context = TaskContext.get()
            assert context is not None
            if context.partitionId() > 0:
                return self._refuse_more(iterator)
            query_id, batch_id = (
                context.getLocalProperty("sql.streaming.queryId"),
                context.getLocalProperty("streaming.sql.batchId"),
            )
            prefix = rows.TRANSACTIONAL_PREFIX.read(self._writing.options)
            return self._writing.send_once(iterator, f"{prefix}-{query_id}", int(batch_id or 0))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Tasks have done it."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Tasks have done it."""

    def _refuse_more(self, iterator: Iterator[pa.RecordBatch]) -> Sent:
        """A second task has no transaction of its own: it may only be empty."""
        if any(batch.num_rows for batch in iterator):
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.DELIVERY.key}' = 'exactly-once' writes a micro-batch by one task: .coalesce(1) the frame, or"
                " choose 'at-least-once'."
            )
        return Sent(0)
