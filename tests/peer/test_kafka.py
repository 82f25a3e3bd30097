"""Kafka on a real broker: transactions, topics that change under a stream, a broker that goes away, logins, rights."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka_broker import PASSWORD, USER, RealBroker
from server_process import ServerProcess

import lakeward as lw
from lakeward.errors import LakewardError
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.topics import make_topics, missing_topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = "id BIGINT, word STRING"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealBroker]:
    """An Apache Kafka of this module's own."""
    made = RealBroker(tmp_path_factory.mktemp("kafka") / "broker")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def spark(server: ServerProcess) -> Iterator[SparkSession]:
    """A session that knows `lakeward.kafka`."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    session = lw.spark.session(server.bootstrap, master="local[2]", **settings)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def rows(first: int, end: int) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": n, "word": f"w{n}"} for n in range(first, end)]


class Copy:
    """A stream from one topic into another, as often as one likes from one checkpoint."""

    def __init__(self, spark: SparkSession, broker: RealBroker, place: Path, source: str, into: str) -> None:
        self._spark, self._broker, self.checkpoint = spark, broker, place
        self._source, self._into = source, into

    def frame(self, **options: str) -> DataFrame:
        """The source."""
        given = {"properties.bootstrap.servers": self._broker.bootstrap, "topic": self._source, "format": "json"}
        return self._spark.readStream.format("lakeward.kafka").options(**given, **options).schema(SCHEMA).load()

    def start(self, *, forever: bool = False, **options: str) -> StreamingQuery:
        """Start it."""
        given = {
            "properties.bootstrap.servers": self._broker.bootstrap,
            "topic": self._into,
            "format": "json",
            "key.fields": "id",
            "sink.delivery-guarantee": "exactly-once",
            "checkpointLocation": str(self.checkpoint),
        }
        writer = self.frame(**options).coalesce(1).writeStream.format("lakeward.kafka").options(**given)
        return (writer if forever else writer.trigger(availableNow=True)).start()

    def run(self, **options: str) -> None:
        """Until everything there is was copied."""
        self.start(**options).awaitTermination(120)

    def ids(self) -> list[int]:
        """What is in the other topic, for readers of whole transactions."""
        return sorted(row["id"] for row in self._broker.rows(self._into))


def test_a_micro_batch_that_comes_again_is_known(spark: SparkSession, broker: RealBroker, tmp_path: Path) -> None:
    """Its number is in its own transaction: with the last commit forgotten, the batch is read again, not written."""
    broker.create("one", 2)
    broker.create("one_copy", 3)
    broker.send("one", rows(0, 500))
    copy = Copy(spark, broker, tmp_path / "checkpoint", "one", "one_copy")
    copy.run()
    assert copy.ids() == list(range(500))
    for name in ("0", ".0.crc"):
        (copy.checkpoint / "commits" / name).unlink(missing_ok=True)
    copy.run()
    assert copy.ids() == list(range(500))
    broker.grow("one", 4)  # new partitions are read from their beginning
    broker.send("one", rows(500, 900))
    copy.run()
    assert copy.ids() == list(range(900))


def test_rows_that_are_gone(spark: SparkSession, broker: RealBroker, tmp_path: Path) -> None:
    """Deleted messages and a topic that was made again are errors that say what to do, or are passed over."""
    broker.create("gone", 1)
    broker.create("gone_copy", 1)
    broker.send("gone", rows(0, 100))
    copy = Copy(spark, broker, tmp_path / "checkpoint", "gone", "gone_copy")
    copy.run()
    broker.send("gone", rows(100, 200))
    broker.cut("gone", 0, 150)
    with pytest.raises(Exception, match="offsets 100 to 149 were deleted") as wrong:
        copy.run()
    assert "scan.fail-on-data-loss" in str(wrong.value)
    copy.run(**{"scan.fail-on-data-loss": "false"})
    assert copy.ids() == [*range(100), *range(150, 200)]
    broker.delete("gone")
    time.sleep(1)
    broker.create("gone", 1)
    broker.send("gone", rows(1000, 1300))
    with pytest.raises(Exception, match="topic 'gone' was deleted and made again"):
        copy.run()
    copy.run(failOnDataLoss="false")
    assert copy.ids() == [*range(100), *range(150, 200), *range(1000, 1300)]


def test_a_broker_that_is_away_is_waited_for(spark: SparkSession, broker: RealBroker, tmp_path: Path) -> None:
    """The stream stands still and goes on; nothing is lost, nothing comes twice."""
    broker.create("far", 2)
    broker.create("far_copy", 1)
    broker.send("far", rows(0, 300))
    copy = Copy(spark, broker, tmp_path / "checkpoint", "far", "far_copy")
    query = copy.start(forever=True)
    try:
        query.processAllAvailable()
        broker.stop()
        back = threading.Timer(float(os.environ.get("KAFKA_AWAY_S", "8")), broker.start)
        back.start()
        back.join()
        broker.send("far", rows(300, 600))
        query.processAllAvailable()
    finally:
        query.stop()
    assert copy.ids() == list(range(600))


def test_who_may_not_read_is_told_so(spark: SparkSession, broker: RealBroker) -> None:
    """A wrong password and a missing right are sentences, and nothing secret is in them."""
    broker.create("private", 1)
    login = {
        "properties.bootstrap.servers": broker.with_login,
        "properties.security.protocol": "SASL_PLAINTEXT",
        "properties.sasl.mechanism": "PLAIN",
        "properties.sasl.username": USER,
        "topic": "private",
    }
    for password, told in (("not-the-secret", "refuses the login"), (PASSWORD, "no right to the topic")):
        frame = spark.read.format("lakeward.kafka").options(**login, **{"properties.sasl.password": password}).load()
        with pytest.raises(Exception, match=told) as wrong:
            frame.count()
        assert password not in str(wrong.value)
        assert password not in str(frame._jdf.queryExecution().toString())


def test_a_row_that_is_too_large(spark: SparkSession, broker: RealBroker) -> None:
    """The error names the topic and the settings."""
    broker.create("narrow", 1, max_message_bytes="20000")
    frame = spark.sql("SELECT repeat('x', 100000) AS value")
    options = {
        "properties.bootstrap.servers": broker.bootstrap,
        "topic": "narrow",
        "properties.compression.type": "none",
    }
    with pytest.raises(Exception, match="A row is too large for topic 'narrow'"):
        frame.write.format("lakeward.kafka").options(**options).mode("append").save()


def test_topics_that_are_missing_are_made(broker: RealBroker) -> None:
    """By a login that may; what stands against one is the broker's sentence."""
    config = ClientConfig({"bootstrap.servers": broker.bootstrap})
    assert missing_topics(config, ["new", "newer"]) == ["new", "newer"]
    make_topics(config, ["new"])
    make_topics(config, ["new"])
    assert missing_topics(config, ["new", "newer"]) == ["newer"]
    with pytest.raises(LakewardError, match="has no topic 'a b', and it cannot be made: Topic name is inv"):
        make_topics(config, ["a b"])
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    poor = {"bootstrap.servers": broker.with_login, **login, "sasl.username": USER, "sasl.password": PASSWORD}
    with pytest.raises(LakewardError, match="cannot be made: Authorization failed"):
        make_topics(ClientConfig(poor), ["newer"])
