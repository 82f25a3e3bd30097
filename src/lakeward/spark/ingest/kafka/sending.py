"""Sending: records into topics, by a producer that writes each once and in order; in a transaction where asked."""

from __future__ import annotations

from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.kafka_errors import explain, explain_setting
from lakeward.spark.ingest.kafka.brokers.library import kafka_library
from lakeward.spark.ingest.kafka.messages.records import Records

_UNDER_WAY_BYTES = 128 << 20
_UNDER_WAY_MESSAGES = 200_000
_FLUSH_S = 5.0
_ASK_S = 30.0
_PROBE_S = 15.0


class Sending:
    """One producer; everything it was given is kept by the brokers when `finish` returns."""

    def __init__(self, config: ClientConfig, topic: str | None, away_s: float, **settings: Any) -> None:
        self._config, self._topic = config, topic
        self._library = kafka_library()
        self._failed: Any = None
        timeout = {} if "transactional.id" in settings else {"message.timeout.ms": int(away_s * 1000)}
        own = {"delivery.report.only.error": True, "error_cb": self._hear, **timeout, **settings}
        try:
            self.producer = self._library.Producer(config.producer(**own))
        except self._library.KafkaException as wrong:
            raise explain_setting(wrong.args[0], config) from None
        self._bytes = 0

    def send(self, records: Records) -> None:
        """Hand over; waits while too much is under way."""
        keys, values = records.keys, records.values
        count = len(values)
        if records.headers is not None or records.topics is not None:
            self._send_one_by_one(records)
        else:
            messages: list[dict[str, Any]] = [{"value": value} for value in values]
            for name, column in (
                ("key", keys),
                ("timestamp", records.timestamps_ms),
                ("partition", records.partitions),
            ):
                if column is not None:
                    for message, given in zip(messages, column, strict=True):
                        if given is not None:
                            message[name] = given
            queued = self.producer.produce_batch(self._need_topic(), messages, on_delivery=self._report)
            if queued < count:
                wrong = next(message["_error"] for message in messages if "_error" in message)
                raise explain(wrong, self._config, f"topic '{self._topic}'")
        self._bytes += sum(map(len, filter(None, values)))
        if self._bytes > _UNDER_WAY_BYTES or len(self.producer) > _UNDER_WAY_MESSAGES:
            self.flush()
        self.producer.poll(0)
        self._check()

    def flush(self) -> None:
        """Wait until brokers have everything."""
        while self.producer.flush(_FLUSH_S):
            self._check()
        self._bytes = 0
        self._check()

    def _send_one_by_one(self, records: Records) -> None:
        for place, value in enumerate(records.values):
            more: dict[str, Any] = {}
            if records.partitions is not None and records.partitions[place] is not None:
                more["partition"] = records.partitions[place]
            if records.timestamps_ms is not None and records.timestamps_ms[place] is not None:
                more["timestamp"] = records.timestamps_ms[place]
            if records.headers is not None:
                more["headers"] = records.headers[place]
            topic = (records.topics[place] if records.topics is not None else None) or self._need_topic()
            key = None if records.keys is None else records.keys[place]
            try:
                self.producer.produce(topic, value, key, on_delivery=self._report, **more)
            except BufferError:
                self.flush()
                self.producer.produce(topic, value, key, on_delivery=self._report, **more)
            except self._library.KafkaException as wrong:
                raise explain(wrong.args[0], self._config, f"topic '{topic}'") from None

    def _need_topic(self) -> str:
        if self._topic is None:
            raise ErrorCode.INVALID_CONFIG.error("Rows for Kafka need the option 'topic', or a column of that name.")
        return self._topic

    def _report(self, error: Any, message: Any) -> None:
        del message
        if error is not None and self._failed is None:
            self._failed = error

    def _hear(self, error: Any) -> None:
        if error.fatal() or error.name() in {"_AUTHENTICATION", "_SSL"}:
            self._failed = self._failed or error

    def _check(self) -> None:
        if self._failed is not None:
            raise explain(self._failed, self._config, f"topic '{self._topic}'")


class Transaction:
    """One micro-batch as one transaction; its number is kept with it, so that it is known when it comes again."""

    def __init__(self, config: ClientConfig, topic: str, name: str, timeout_ms: int, away_s: float) -> None:
        self._config, self._topic, self._name = config, topic, name
        self._library = kafka_library()
        settings = {"transactional.id": name, "transaction.timeout.ms": timeout_ms}
        self.sending = Sending(config, topic, away_s, **settings)
        self._away_s = away_s

    def begin(self, batch_id: int) -> bool:
        """Whether the batch is yet to be written. Whoever had this name before is shut out first."""
        group = {"group.id": self._name}
        self._consumer = self._library.Consumer(self._config.consumer(**group))
        try:
            self._try(lambda: self.sending.producer.init_transactions(self._away_s))
            asked = [self._library.TopicPartition(self._topic, 0)]
            (found,) = self._try(lambda: self._consumer.committed(asked, timeout=_ASK_S))
            if found.offset > batch_id:
                self._consumer.close()
                return False
            self.sending.producer.begin_transaction()
        except self._library.KafkaException as wrong:
            raise self._explain(wrong) from None
        return True

    def commit(self, batch_id: int) -> None:
        """Make the rows seen, with the number of the batch."""
        producer, place = self.sending.producer, self._library.TopicPartition(self._topic, 0, batch_id + 1)
        try:
            self.sending.flush()
            members = self._consumer.consumer_group_metadata()
            self._try(lambda: producer.send_offsets_to_transaction([place], members, _ASK_S))
            self._try(lambda: producer.commit_transaction(_ASK_S))
        except self._library.KafkaException as wrong:
            raise self._explain(wrong) from None
        finally:
            self._consumer.close()

    def abort(self) -> None:
        """Give the rows up, as far as brokers can be reached; they will do it themselves otherwise."""
        try:
            self.sending.producer.purge()
            self.sending.producer.abort_transaction(_ASK_S)
        except self._library.KafkaException:
            return

    def _try(self, call: Any) -> Any:
        """Again while the client says that it may be repeated."""
        for _ in range(20):
            try:
                return call()
            except self._library.KafkaException as wrong:
                if not wrong.args[0].retriable():
                    raise
                last = wrong
        raise last

    def _explain(self, wrong: Any) -> LakewardError:
        error = wrong.args[0]
        if error.name() in {"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"}:
            return ErrorCode.UNKNOWN_WRITER_ID.error(
                f"Another run of the same stream writes to topic '{self._topic}' (transactional id '{self._name}');"
                " this one gives way."
            )
        return explain(error, self._config, f"topic '{self._topic}'")


def can_transact(config: ClientConfig, prefix: str) -> str | None:
    """None if brokers take transactions; otherwise why not."""
    library = kafka_library()
    try:
        producer = library.Producer(config.producer(**{"transactional.id": f"{prefix}-probe"}))
        producer.init_transactions(_PROBE_S)
    except library.KafkaException as wrong:
        error = wrong.args[0]
        return config.hide(error.str())
    return None
