"""Kafka at the same work: a message for each row, by librdkafka; one broker from its published jars."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from bench.scale.kept import Figure, percentiles, rounded
from bench.scale.shapes import ROW_BYTES, Axis, Shape

_SUPPORT = Path(__file__).parents[2] / "tests" / "support"
_TOPIC = "scale"
_SMALL = 300


class Kafka:
    """A broker of one node; buckets are its partitions."""

    def available(self) -> bool:
        """Whether Java and Maven are here."""
        sys.path.append(str(_SUPPORT))
        from kafka_broker import can_run_kafka

        return bool(can_run_kafka())

    def measure(self, axis: Axis, shape: Shape) -> Iterator[tuple[str, Figure]]:  # noqa: ARG002 - as others do
        """Appends and scans; the other works are not Kafka's."""
        sys.path.append(str(_SUPPORT))
        from kafka_broker import RealBroker

        with tempfile.TemporaryDirectory(prefix="kafka-scale-") as place:
            broker = RealBroker(Path(place) / "broker")
            try:
                broker.create(_TOPIC, shape.buckets)
                server = psutil.Process(broker._process.pid)
                yield "append", _append(broker.bootstrap, server, shape.rows)
                yield "scan", _scan(broker.bootstrap, server, shape.rows, shape.buckets)
            finally:
                broker.stop()


def _append(bootstrap: str, server: Any, rows: int) -> Figure:
    import confluent_kafka

    settings = {"bootstrap.servers": bootstrap, "acks": "all", "compression.type": "zstd", "log_level": 0}
    producer = confluent_kafka.Producer({**settings, "queue.buffering.max.messages": 1_000_000, "linger.ms": 5})
    values = [(b"%012d" % n) * (ROW_BYTES // 12 + 1) for n in range(1000)]
    cpu, begun = _cpu_s(server), time.perf_counter()
    for number in range(rows):
        while True:
            try:
                producer.produce(_TOPIC, values[number % 1000][:ROW_BYTES])
                break
            except BufferError:
                producer.poll(0.05)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0
    found = _whole(server, cpu, begun, rows)
    one = confluent_kafka.Producer({**settings, "linger.ms": 0})
    times = []
    for _ in range(_SMALL):
        begun = time.perf_counter()
        one.produce(_TOPIC, values[0])
        one.flush(10)
        times.append((time.perf_counter() - begun) * 1000)
    return found | percentiles(times[10:])


def _scan(bootstrap: str, server: Any, rows: int, partitions: int) -> Figure:
    import confluent_kafka

    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "scale", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.assign([confluent_kafka.TopicPartition(_TOPIC, part, 0) for part in range(partitions)])
    cpu, begun, got = _cpu_s(server), time.perf_counter(), 0
    while got < rows:
        got += len(consumer.consume(10_000, 5))
    found = _whole(server, cpu, begun, rows)
    consumer.close()
    return found


def _whole(server: Any, cpu: float, begun: float, rows: int) -> Figure:
    spent = time.perf_counter() - begun
    used = (_cpu_s(server) - cpu) / (rows * ROW_BYTES / 1e9)
    mb = server.memory_info().rss / 1e6
    return rounded({"s": spent, "rows": rows, "rate": rows / spent, "cpu_s_gb": used, "mb": mb})


def _cpu_s(server: Any) -> float:
    times = server.cpu_times()
    return float(times.user + times.system)
