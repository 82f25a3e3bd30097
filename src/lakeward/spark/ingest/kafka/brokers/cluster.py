"""Cluster: what the driver asks brokers. Topics, partitions, offsets; waits while brokers are away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.kafka_errors import (
    explain,
    explain_setting,
    is_away,
    is_login,
    is_unknown_topic,
)
from lakeward.spark.ingest.kafka.brokers.library import kafka_library
from lakeward.spark.ingest.kafka.ground.offsets import Partition

T = TypeVar("T")
_LATEST, _EARLIEST = -1, -2
_CALL_S = 5.0
_IDS_S = 2.0
_PROBE_S = 2.0


class AwayError(Exception):
    """Brokers did not answer in time."""

    def __init__(self, wrong: LakewardError) -> None:
        super().__init__(wrong.message)
        self.wrong = wrong


class Cluster:
    """Brokers, asked by one client."""

    def __init__(self, config: ClientConfig, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._library = kafka_library()
        self._refusal: Any = None
        self._has_ids = True
        conf = config.consumer(error_cb=self._hear)
        try:
            self._consumer = self._library.Consumer(conf)
        except self._library.KafkaException as wrong:
            raise explain_setting(wrong.args[0], config) from None

    def close(self) -> None:
        """Say goodbye."""
        self._consumer.close()

    def topics(self, names: Iterable[str], pattern: str | None, patience_s: float) -> dict[str, list[int]]:
        """Topics with their partitions: those named, which must be there, or those that match a pattern."""
        found = self.ask(lambda: self._consumer.list_topics(timeout=_CALL_S), "topics", patience_s).topics
        if pattern is not None:
            chosen = [name for name in found if re.fullmatch(pattern, name) and not name.startswith("__")]
            return {name: sorted(found[name].partitions) for name in sorted(chosen)}
        return {name: self._partitions(name, found, patience_s) for name in names}

    def _partitions(self, name: str, found: Mapping[str, Any], patience_s: float) -> list[int]:
        if name in found and found[name].error is None and found[name].partitions:
            return sorted(found[name].partitions)

        def ask_again() -> list[int]:
            told = self._consumer.list_topics(name, timeout=_CALL_S).topics[name]
            if told.error is not None:
                raise self._library.KafkaException(told.error)
            return sorted(told.partitions)

        return self.ask(ask_again, f"topic '{name}'", patience_s)

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """What tells topics from later ones of the same names, where brokers say so."""
        from confluent_kafka.admin import AdminClient

        if not self._has_ids:
            return {}
        own = {key: value for key, value in self._config.settings.items() if key != "group.id"}
        conf: dict[str, Any] = {"log_level": 0, **own, "error_cb": self._hear}
        admin = AdminClient(conf)
        try:
            asked = admin.describe_topics(self._library.TopicCollection(list(topics)), request_timeout=_IDS_S)
            return {topic: str(told.result().topic_id) for topic, told in asked.items()}
        except (self._library.KafkaException, ValueError):
            self._has_ids = False  # brokers before 2.8, and mocks
            return {}

    def earliest(self, partitions: Iterable[Partition], patience_s: float) -> dict[Partition, int]:
        """The oldest offset that is there."""
        return self._offsets(dict.fromkeys(partitions, _EARLIEST), patience_s)

    def latest(self, partitions: Iterable[Partition], patience_s: float) -> dict[Partition, int]:
        """The offset after the last message that a reader may see."""
        return self._offsets(dict.fromkeys(partitions, _LATEST), patience_s)

    def at_time(self, partitions: Iterable[Partition], ms: int, patience_s: float) -> dict[Partition, int]:
        """The first offset at or after a time; the end where there is none."""
        found = self._offsets(dict.fromkeys(partitions, ms), patience_s)
        after = [part for part, offset in found.items() if offset < 0]
        return {**found, **self.latest(after, patience_s)}

    def _offsets(self, wanted: Mapping[Partition, int], patience_s: float) -> dict[Partition, int]:
        if not wanted:
            return {}
        asked = [self._library.TopicPartition(*part, at) for part, at in wanted.items()]

        def ask() -> dict[Partition, int]:
            told = self._consumer.offsets_for_times(asked, timeout=_CALL_S)
            for one in told:
                if one.error is not None:
                    raise self._library.KafkaException(one.error)
            return {(one.topic, one.partition): one.offset for one in told}

        return self.ask(ask, "topic " + ", ".join(sorted({f"'{topic}'" for topic, _ in wanted})), patience_s)

    def committed(self, partitions: Iterable[Partition], patience_s: float) -> dict[Partition, int]:
        """The offsets that the group committed, of partitions where it did."""
        asked = [self._library.TopicPartition(*part) for part in partitions]
        found = self.ask(
            lambda: self._consumer.committed(asked, timeout=_CALL_S), f"group '{self._config.group_id}'", patience_s
        )
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def commit(self, places: Mapping[Partition, int]) -> None:
        """Tell others how far the group is; nobody waits for it, and nothing depends on it."""
        told = [self._library.TopicPartition(*part, offset) for part, offset in places.items()]
        if told:
            try:
                self._consumer.commit(offsets=told, asynchronous=True)
            except self._library.KafkaException:
                return

    def ask(self, call: Callable[[], T], what: str, patience_s: float) -> T:
        """Ask until there is an answer; AwayError when that takes longer than `patience_s`."""
        end_s = self._clock.monotonic() + patience_s
        while True:
            self._consumer.poll(0)  # serves what brokers said meanwhile
            if self._refusal is not None:
                raise explain(self._refusal, self._config, what)
            try:
                return call()
            except self._library.KafkaException as wrong:
                error = wrong.args[0]
                self._consumer.poll(0)
                error = self._refusal or error
                if is_unknown_topic(error):  # which the client also says of brokers that are away
                    error = self._absence() or error
                if is_unknown_topic(error) or not is_away(error):
                    raise explain(error, self._config, what) from None
                if self._clock.monotonic() >= end_s:
                    raise AwayError(explain(error, self._config, what)) from None

    def _absence(self) -> Any:
        """What the client says if no broker answers; None if one does."""
        try:
            self._consumer.list_topics(timeout=_PROBE_S)
        except self._library.KafkaException as wrong:
            return wrong.args[0] if is_away(wrong.args[0]) else None
        return None

    def _hear(self, error: Any) -> None:
        if is_login(error):
            self._refusal = error
