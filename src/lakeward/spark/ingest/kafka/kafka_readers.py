"""Bounded reads, and what tasks of both readers do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.cluster import AwayError, Cluster
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.ground.offsets import Partition, Places, Range, ranges
from lakeward.spark.ingest.kafka.messages.bad_messages import BadMessages
from lakeward.spark.ingest.kafka.messages.message_rows import MessageRows
from lakeward.spark.ingest.kafka.messages.table_shape import TableShape
from lakeward.spark.ingest.kafka.range_reader import read_range
from lakeward.spark.ingest.kafka.starts import first_places, last_places
from lakeward.spark.table.one_sentence import each_in_one_sentence, one_sentence

if TYPE_CHECKING:
    import pyarrow as pa

#: How long brokers that nobody has reached yet are waited for.
FIRST_PATIENCE_S = 30.0


@dataclass
class KafkaRange(InputPartition):
    """A range of a partition, as it travels to a task."""

    range: Range


@dataclass(frozen=True)
class Reading:
    """What a read needs, on the driver and in tasks; travels to tasks whole."""

    options: dict[str, str]
    schema: Schema

    def __repr__(self) -> str:
        return f"Reading({self.what})"

    @property
    def config(self) -> ClientConfig:
        """How to reach the brokers."""
        return ClientConfig.of_options(self.options, f"The source {self.what}")

    @property
    def names(self) -> tuple[str, ...]:
        """The topics, where they are named."""
        return rows.TOPIC.read(self.options) or ()

    @property
    def what(self) -> str:
        """For messages."""
        pattern = rows.TOPIC_PATTERN.read(self.options)
        return f"of topics '{pattern}'" if pattern else f"of topic {', '.join(map(repr, self.names))}"

    def check(self) -> None:
        """Refuse what does not fit together, before anything is asked of a broker."""
        if bool(self.names) == (rows.TOPIC_PATTERN.key in self.options):
            raise ErrorCode.INVALID_CONFIG.error(
                f"A source of Kafka needs one of the options '{rows.TOPIC.key}' and '{rows.TOPIC_PATTERN.key}'."
            )
        _ = self.config
        shape = TableShape.of(self.schema, self.options)
        shape.value_decoder()
        shape.key_decoder()
        BadMessages(self.options)

    def partitions(self, cluster: Cluster, patience_s: float) -> list[Partition]:
        """All partitions there are."""
        found = cluster.topics(self.names, rows.TOPIC_PATTERN.read(self.options), patience_s)
        return [(topic, part) for topic, parts in found.items() for part in parts]

    def tasks(self, begin: Places, end: Places) -> list[InputPartition]:
        """What tasks read."""
        return [KafkaRange(part) for part in ranges(begin, end, rows.SPLIT_ROWS.read(self.options))]

    def read(self, part: Range) -> Iterator[pa.RecordBatch]:
        """The rows of a range."""
        reader, bad_ones = MessageRows(TableShape.of(self.schema, self.options)), BadMessages(self.options)
        for messages in read_range(self.config, part, rows.AWAY_TIMEOUT.read(self.options)):
            batch, bad = reader.read(messages)
            bad_ones.take(messages, bad)
            if batch.num_rows:
                yield batch


class KafkaReader(DataSourceReader):
    """What there is now, from where the options say, to where they say."""

    def __init__(self, options: Mapping[str, str], schema: Schema) -> None:
        self._reading = Reading(dict(options), schema)
        self._reading.check()

    def partitions(self) -> list[InputPartition]:
        """Ranges of all partitions."""
        with one_sentence():
            reading = self._reading
            BadMessages(reading.options).prepare()
            cluster = Cluster(reading.config)
            try:
                parts = reading.partitions(cluster, FIRST_PATIENCE_S)
                begin = first_places(cluster, reading.options, parts, FIRST_PATIENCE_S)
                end = last_places(cluster, reading.options, parts, FIRST_PATIENCE_S)
                return reading.tasks(begin, end or cluster.latest(parts, FIRST_PATIENCE_S))
            except AwayError as away:
                raise away.wrong from None
            finally:
                cluster.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one range."""
        assert isinstance(partition, KafkaRange)
        yield from each_in_one_sentence(self._reading.read(partition.range))
