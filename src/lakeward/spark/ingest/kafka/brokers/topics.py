"""Topics that are not there yet: which they are, and making them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig
from lakeward.spark.ingest.kafka.brokers.kafka_errors import explain, explain_setting, is_unknown_topic
from lakeward.spark.ingest.kafka.brokers.library import admin_library, kafka_library

_ASK_S = 30.0
_THERE = "TOPIC_ALREADY_EXISTS"


def missing_topics(config: ClientConfig, names: Iterable[str]) -> list[str]:
    """Those of the topics that brokers do not have; asking makes none."""
    library, admin = kafka_library(), _admin(config)
    try:
        there = admin.list_topics(timeout=_ASK_S).topics
    except library.KafkaException as wrong:
        raise explain(wrong.args[0], config, "topics") from None
    return [name for name in names if name not in there]


def make_topics(config: ClientConfig, names: Sequence[str]) -> None:
    """Make topics as brokers make them where nobody says how; one that is there meanwhile is as good."""
    if not names:
        return
    library, admin = kafka_library(), _admin(config)
    # Brokers that make topics by themselves do so when they are asked for one; some cannot be told to.
    needed = [name for name in names if not _is_there(config, admin, name)]
    if not needed:
        return
    new = [admin_library().NewTopic(name) for name in needed]
    for name, made in admin.create_topics(new, operation_timeout=_ASK_S).items():
        try:
            made.result()
        except library.KafkaException as wrong:
            error = wrong.args[0]
            if error.name() != _THERE:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"Kafka at {config.servers} has no topic '{name}', and it cannot be made:"
                    f" {config.hide(error.str()).strip().rstrip('.')}. Make it first, or have somebody make it who may."
                ) from None


def _is_there(config: ClientConfig, admin: Any, name: str) -> bool:
    library = kafka_library()
    try:
        told = admin.list_topics(name, timeout=_ASK_S).topics[name]
    except library.KafkaException as wrong:
        if is_unknown_topic(wrong.args[0]):
            return False
        raise explain(wrong.args[0], config, f"topic '{name}'") from None
    return told.error is None and bool(told.partitions)


def _admin(config: ClientConfig) -> Any:
    library = kafka_library()
    own = {key: value for key, value in config.settings.items() if key != "group.id"}
    try:
        return admin_library().AdminClient({"log_level": 0, **own})
    except library.KafkaException as wrong:
        raise explain_setting(wrong.args[0], config) from None
