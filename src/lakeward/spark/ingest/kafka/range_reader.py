"""What a task does: read a range of a partition in large lists of messages. Consumers are kept from task to task."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.kafka_errors import explain, is_away, is_login, is_unknown_topic
from lakeward.spark.ingest.kafka.brokers.library import kafka_library
from lakeward.spark.ingest.kafka.ground.offsets import Range

_FIRST_MESSAGES, _MESSAGES_MAX = 1_000, 50_000
_LIST_BYTES = 16 << 20
_LOOK_S = 0.1
#: For how long a topic that was there must be absent to be believed gone: a broker that starts knows none at first.
SURE_S = 30.0
_FETCH = {
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 10,  # the end is known: nothing is waited for but what was promised
    "fetch.message.max.bytes": 8 << 20,
    "queued.max.messages.kbytes": 64 << 10,
    "check.crcs": True,
}
#: By their settings; a process of Spark runs one task after another.
_kept: dict[tuple[tuple[str, str], ...], Any] = {}


def read_range(config: ClientConfig, part: Range, away_ms: int, clock: Clock | None = None) -> Iterator[Sequence[Any]]:
    """The messages of a range, in lists; there may be gaps in their offsets."""
    library, clock = kafka_library(), clock or SystemClock()
    consumer, heard = _consumer(config)
    heard.clear()
    consumer.assign([library.TopicPartition(part.topic, part.partition, part.begin)])
    try:
        position, wanted, last_s, missing = part.begin, _FIRST_MESSAGES, clock.monotonic(), None
        while position < part.end:
            found = consumer.consume(min(wanted, part.end - position), _LOOK_S)
            if heard and is_login(heard[-1]):
                raise explain(heard[-1], config, f"topic '{part.topic}'")
            errors = [message for message in found if message.error() is not None]
            if errors:
                found = [message for message in found if message.error() is None]
            if found:
                position = found[-1].offset() + 1
                if position > part.end:  # a gap reaches beyond the end
                    found = [message for message in found if message.offset() < part.end]
                if found:
                    yield found
                    size = sum(len(message) for message in found[:: max(1, len(found) // 16)]) + 1
                    sampled = len(range(0, len(found), max(1, len(found) // 16)))
                    wanted = max(1, min(_MESSAGES_MAX, _LIST_BYTES * sampled // size))
                last_s = clock.monotonic()
            for wrong in errors:
                position = max(position, _judge(wrong, part, config))
                missing = wrong.error() if is_unknown_topic(wrong.error()) else missing
            silent_s = clock.monotonic() - last_s
            if not found and missing is not None and silent_s > SURE_S:
                raise explain(missing, config, f"topic '{part.topic}'")
            if not found and silent_s * 1000 > away_ms:
                raise _silence(part, position, config)
    finally:
        consumer.unassign()


def _judge(wrong: Any, part: Range, config: ClientConfig) -> int:
    """How far a partition was seen to reach; or raise."""
    error = wrong.error()
    if error.name() == "_PARTITION_EOF":
        return int(wrong.offset())
    if error.name() in {"_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"}:
        raise lost_rows([f"topic '{part.topic}', partition {part.partition}: offset {part.begin} is not there"])
    if is_away(error) or is_unknown_topic(error):
        return 0
    raise explain(error, config, f"topic '{part.topic}'")


def lost_rows(losses: Sequence[str]) -> LakewardError:
    """The error for rows that are gone before they were read."""
    more = f", and {len(losses) - 3} more" if len(losses) > 3 else ""
    return ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
        f"Rows that were not read are gone: {'; '.join(losses[:3])}{more}. Set 'scan.fail-on-data-loss' ="
        " 'false' to go on with what there is, or begin again with a new checkpoint."
    )


def _silence(part: Range, position: int, config: ClientConfig) -> LakewardError:
    return ErrorCode.NETWORK.error(
        f"Kafka at {config.servers} did not give offset {position} of topic '{part.topic}', partition {part.partition},"
        " for too long ('scan.away-timeout'). Check that the brokers run; the stream goes on where it is."
    )


def _consumer(config: ClientConfig) -> tuple[Any, list[Any]]:
    key = tuple(sorted(config.settings.items()))
    if key not in _kept:
        heard: list[Any] = []
        own = {name: value for name, value in _FETCH.items() if name not in config.settings}
        _kept[key] = kafka_library().Consumer(config.consumer(**own, error_cb=heard.append)), heard
        if len(_kept) == 1:
            atexit.register(_close)
    found: tuple[Any, list[Any]] = _kept[key]
    return found


def _close() -> None:
    for consumer, _ in _kept.values():
        consumer.close()
    _kept.clear()
