"""Ranges of a topic as tasks read them, and records as tasks send them, on librdkafka's mock broker."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import confluent_kafka
import pytest
from kafka_broker import MockBroker

from lakeward.errors import LakewardError
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.cluster import Cluster
from lakeward.spark.ingest.kafka.ground.offsets import Range
from lakeward.spark.ingest.kafka.messages.records import Records
from lakeward.spark.ingest.kafka.range_reader import read_range
from lakeward.spark.ingest.kafka.sending import Sending, Transaction, can_transact

_AWAY_MS = 60_000
#: Of Kafka's own tests of murmur2.
_JAVA_HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
}


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    """A mock broker."""
    made = MockBroker()
    yield made
    made.stop()


def config(broker: MockBroker, **more: str) -> ClientConfig:
    """How to reach it; its markers of transactions have no checksum."""
    given = {"properties.bootstrap.servers": broker.bootstrap, "properties.check.crcs": "false", **more}
    return ClientConfig.of_options(given, "The test")


def values(broker: MockBroker, part: Range) -> list[bytes]:
    """What a task gets."""
    return [m.value() for found in read_range(config(broker), part, _AWAY_MS) for m in found]


def test_a_range_ends_where_it_should_also_where_offsets_have_gaps(broker: MockBroker) -> None:
    """A marker ends each transaction, and no message comes for it."""
    broker.create("t", 1)
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": "x", "log_level": 0}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions(10)
    for number in range(3):
        producer.begin_transaction()
        for n in range(4):
            producer.produce("t", b"%d" % (number * 4 + n))
        producer.commit_transaction(10)
    cluster = Cluster(config(broker))
    end = cluster.latest([("t", 0)], 10)["t", 0]
    cluster.close()
    assert values(broker, Range("t", 0, 0, end)) == [b"%d" % n for n in range(12)]
    places = {m.value(): m.offset() for m in broker.messages("t", "read_uncommitted")}
    for first, last in ((0, 3), (2, 7), (5, end)):
        want = [value for value, offset in places.items() if first <= offset < last]
        assert values(broker, Range("t", 0, first, last)) == want


def test_a_broker_that_goes_away_is_waited_for(broker: MockBroker) -> None:
    """A task goes on where it was."""
    broker.create("t", 1)
    broker.send("t", [b"%d" % n for n in range(100)])
    broker.down()
    threading.Timer(2, broker.up).start()
    assert values(broker, Range("t", 0, 10, 100)) == [b"%d" % n for n in range(10, 100)]


def test_offsets_that_are_not_there_are_an_error(broker: MockBroker) -> None:
    """It says what to do."""
    broker.create("t", 1)
    broker.send("t", [b"x"])
    with pytest.raises(LakewardError, match=r"offset 500 is not there\. Set 'scan\.fail-on-data-loss' = 'false'"):
        values(broker, Range("t", 0, 500, 600))


def test_keys_go_where_java_puts_them(broker: MockBroker) -> None:
    """By murmur2 of the key."""
    broker.create("t", 7)
    sending = Sending(config(broker), "t", 10)
    sending.send(Records([b"v"] * len(_JAVA_HASHES), list(_JAVA_HASHES)))
    sending.flush()
    found = {m.key(): m.partition() for m in broker.messages("t")}
    assert found == {key: (hash_ & 0x7FFFFFFF) % 7 for key, hash_ in _JAVA_HASHES.items()}


def test_a_record_that_is_too_large_is_an_error(broker: MockBroker) -> None:
    """It names the settings."""
    broker.create("t", 1)
    sending = Sending(config(broker), "t", 10)
    with pytest.raises(
        LakewardError, match=r"A row is too large for topic 't': raise the topic's 'max\.message\.bytes'"
    ):
        sending.send(Records([b"x" * 2_000_000]))


def test_a_transaction_is_seen_when_it_is_committed(broker: MockBroker) -> None:
    """The broker is asked first whether it takes any."""
    broker.create("t", 1)
    assert can_transact(config(broker), "job") is None
    transaction = Transaction(config(broker), "t", "job-1", 60_000, 10)
    assert transaction.begin(0)
    transaction.sending.send(Records([b"a", b"b", None], [b"k", b"k", b"k"]))
    transaction.commit(0)
    assert [(m.key(), m.value()) for m in broker.messages("t")] == [(b"k", b"a"), (b"k", b"b"), (b"k", None)]
