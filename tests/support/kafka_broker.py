"""Brokers for tests: librdkafka's mock, which is always there, and a real Kafka where Maven and Java are.

The mock has no transactional offsets, no topic ids and no rights; what needs those is tested on the real one.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

VERSION = "4.3.1"
_JARS = (("org.apache.kafka", "kafka_2.13", VERSION), ("org.slf4j", "slf4j-simple", "1.7.36"))
SPARK_JARS = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
_CACHE = Path(__file__).parents[2] / ".peer" / f"kafka-{VERSION}"
_PROTOCOLS = ("PLAINTEXT", "SASL_PLAINTEXT")
_CLUSTER_ID = "bGFrZXdhcmQtdGVzdHMtMQ"
USER, PASSWORD = "alice", "alice-secret"


class Broker:
    """What tests ask of a broker, whichever it is."""

    bootstrap: str

    def send(self, topic: str, values: Iterable[Any], **more: Any) -> None:
        """Write messages: bytes, None, or what becomes JSON; (key, value) pairs have keys. More is for `produce`."""
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": self.bootstrap, "log_level": 0, "partitioner": "murmur2_random"}
        )
        for value in values:
            key, body = value if isinstance(value, tuple) else (None, value)
            producer.produce(topic, _bytes(body), _bytes(key), **more)
            producer.poll(0)
        assert producer.flush(30) == 0

    def messages(self, topic: str, isolation: str = "read_committed") -> list[Any]:
        """All messages of a topic, by partition and offset, as a plain consumer reads them."""
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "tests",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        parts = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([confluent_kafka.TopicPartition(topic, part, 0) for part in parts])
        found: list[Any] = []
        ended: set[int] = set()
        while len(ended) < len(parts):
            message = consumer.poll(30)
            assert message is not None, "no message, and no end"
            if message.error() is None:
                found.append(message)
            elif message.error().name() == "_PARTITION_EOF":
                ended.add(message.partition())
            else:
                raise AssertionError(message.error())
        consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))

    def rows(self, topic: str) -> list[Any]:
        """The values of a topic as JSON, in order of partitions and offsets."""
        return [None if m.value() is None else json.loads(m.value()) for m in self.messages(topic)]


def _bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


class MockBroker(Broker):
    """librdkafka's own, in this process; other processes reach it by its address."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(_librdkafka())
        for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
            getattr(self._library, name).restype = ctypes.c_void_p
        self._library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        reason = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        self._library.rd_kafka_conf_set(conf, b"log_level", b"0", reason, 512)
        self._client = ctypes.c_void_p(self._library.rd_kafka_new(0, conf, reason, 512))
        self._mock = ctypes.c_void_p(self._library.rd_kafka_mock_cluster_new(self._client, 1))
        self.bootstrap = self._library.rd_kafka_mock_cluster_bootstraps(self._mock).decode()

    def create(self, topic: str, partitions: int = 1) -> None:
        """Make a topic."""
        assert self._library.rd_kafka_mock_topic_create(self._mock, topic.encode(), partitions, 1) == 0

    def down(self) -> None:
        """Refuse connections."""
        self._library.rd_kafka_mock_broker_set_down(self._mock, 1)

    def up(self) -> None:
        """Take connections again."""
        self._library.rd_kafka_mock_broker_set_up(self._mock, 1)

    def stop(self) -> None:
        """End it."""
        self._library.rd_kafka_mock_cluster_destroy(self._mock)
        self._library.rd_kafka_destroy(self._client)


def _librdkafka() -> str:
    """The library that confluent-kafka has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "librdkafka" in line:
            return line.split(maxsplit=5)[5]
    raise AssertionError("confluent-kafka has loaded no librdkafka")


def can_run_kafka() -> bool:
    """Whether this machine can run a real one."""
    return shutil.which("java") is not None and shutil.which("mvn") is not None


def jars() -> Path:
    """The directory of the broker's jars; brought once."""
    place = _CACHE / "lib"
    if not place.exists():
        coming = _CACHE / "lib.coming"
        shutil.rmtree(coming, ignore_errors=True)
        coming.mkdir(parents=True)
        parts = ("groupId", "artifactId", "version")
        told = "".join(
            f"<dependency>{''.join(f'<{p}>{v}</{p}>' for p, v in zip(parts, jar, strict=True))}</dependency>"
            for jar in _JARS
        )
        (coming / "pom.xml").write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId>'
            f"<artifactId>x</artifactId><version>1</version><dependencies>{told}</dependencies></project>"
        )
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={coming}"]
        subprocess.run(command, cwd=coming, check=True)
        coming.rename(place)
    return place


def spark_jars() -> list[str]:
    """Spark's own Kafka source; brought once."""
    place = _CACHE / "spark"
    if not place.exists():
        coming = _CACHE / "spark.coming"
        shutil.rmtree(coming, ignore_errors=True)
        for jar in SPARK_JARS:
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}", f"-DoutputDirectory={coming}"]
            subprocess.run(command, check=True)
        coming.rename(place)
    return sorted(str(jar) for jar in place.glob("*.jar"))


class RealBroker(Broker):
    """An Apache Kafka of one node: without a login at `bootstrap`, by SASL/PLAIN at `with_login`."""

    def __init__(self, directory: Path, settings: Sequence[str] = ()) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        plain, login, controller = _free_ports(3)
        self.bootstrap, self.with_login = f"127.0.0.1:{plain}", f"127.0.0.1:{login}"
        self._admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{login}"
        jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        self._properties = directory / "server.properties"
        (directory / "data").mkdir(parents=True)
        lines = [
            "process.roles=broker,controller",
            "node.id=1",
            f"controller.quorum.voters=1@127.0.0.1:{controller}",
            f"listeners={listeners},CONTROLLER://127.0.0.1:{controller}",
            f"advertised.listeners={listeners}",
            "controller.listener.names=CONTROLLER",
            "inter.broker.listener.name=PLAINTEXT",
            "sasl.enabled.mechanisms=PLAIN",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
            f'listener.name.sasl_plaintext.plain.sasl.jaas.config={jaas} user_{USER}="{PASSWORD}";',
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users=User:ANONYMOUS",
            f"log.dirs={directory}/data",
            *(f"{name}=1" for name in ("offsets.topic.replication.factor", "transaction.state.log.replication.factor")),
            "transaction.state.log.min.isr=1",
            "offsets.topic.num.partitions=1",
            "transaction.state.log.num.partitions=1",
            "group.initial.rebalance.delay.ms=0",
            "auto.create.topics.enable=false",
            "log.retention.check.interval.ms=500",
            *settings,
        ]
        self._properties.write_text("\n".join(lines) + "\n")
        self._java("kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(self._properties)).wait(60)
        self.start()

    def _java(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self._directory / "log").open("ab")
        command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars()}/*", *arguments]
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = self._java("kafka.Kafka", str(self._properties))
        end_s = time.monotonic() + 60
        while time.monotonic() < end_s:
            try:
                self._admin.list_topics(timeout=2)
            except confluent_kafka.KafkaException:
                assert self._process.poll() is None, (self._directory / "log").read_text()[-2000:]
            else:
                return
        raise AssertionError("the broker does not answer")

    def stop(self) -> None:
        """End it at once."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        """Make a topic."""
        given = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=given)
        self._admin.create_topics([new])[topic].result(30)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._admin.delete_topics([topic])[topic].result(30)

    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions."""
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)

    def cut(self, topic: str, partition: int, before: int) -> None:
        """Delete the messages before an offset."""
        place = confluent_kafka.TopicPartition(topic, partition, before)
        self._admin.delete_records([place])[place].result(30)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
