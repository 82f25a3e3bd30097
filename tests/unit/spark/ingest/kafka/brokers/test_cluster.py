"""What brokers are asked."""

from __future__ import annotations

from collections.abc import Iterator

import confluent_kafka
import pytest
from kafka_broker import MockBroker

from lakeward.errors import NotFoundError
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.cluster import AwayError, Cluster


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    """librdkafka's own."""
    made = MockBroker()
    yield made
    made.stop()


def test_brokers_that_are_away_are_not_told_as_a_missing_topic(broker: MockBroker) -> None:
    """The client says of both that it knows no such partition."""
    cluster = Cluster(ClientConfig({"bootstrap.servers": broker.bootstrap}))

    def ask() -> None:
        raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(confluent_kafka.KafkaError._UNKNOWN_PARTITION))

    with pytest.raises(NotFoundError, match="has no topic 't'"):
        cluster.ask(ask, "topic 't'", 0)
    broker.down()
    with pytest.raises(AwayError, match="cannot be reached"):
        cluster.ask(ask, "topic 't'", 0)
    cluster.close()
