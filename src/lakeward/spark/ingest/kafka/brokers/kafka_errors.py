"""Errors of librdkafka → sentences that say what happened, to which topic, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode, LakewardError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig

_AWAY = frozenset(
    {
        *(
            "_TRANSPORT",
            "_ALL_BROKERS_DOWN",
            "_TIMED_OUT",
            "_TIMED_OUT_QUEUE",
            "_WAIT_COORD",
            "_RESOLVE",
            "_WAIT_CACHE",
        ),
        *(
            "REQUEST_TIMED_OUT",
            "LEADER_NOT_AVAILABLE",
            "NOT_LEADER_FOR_PARTITION",
            "BROKER_NOT_AVAILABLE",
            "_NO_OFFSET",
        ),
        *("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "REPLICA_NOT_AVAILABLE"),
        *("NETWORK_EXCEPTION", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "OFFSET_NOT_AVAILABLE", "_NOENT"),
        *("UNSTABLE_OFFSET_COMMIT", "CONCURRENT_TRANSACTIONS", "_RETRY", "_DESTROY_BROKER", "_PREV_IN_PROGRESS"),
    }
)
_UNKNOWN_TOPIC = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION", "UNKNOWN_TOPIC_ID"})
_LOGIN = frozenset({"_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM", "_SSL"})
_NO_RIGHT = {
    "TOPIC_AUTHORIZATION_FAILED": "the topic",
    "GROUP_AUTHORIZATION_FAILED": "the consumer group",
    "CLUSTER_AUTHORIZATION_FAILED": "the cluster",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "the transactional id",
}


def is_away(error: KafkaError) -> bool:
    """Whether brokers do not answer now, and may later."""
    return error.name() in _AWAY


def is_login(error: KafkaError) -> bool:
    """Whether brokers refuse who asks."""
    return error.name() in _LOGIN


def is_unknown_topic(error: KafkaError) -> bool:
    """Whether a topic or partition is not there."""
    return error.name() in _UNKNOWN_TOPIC


def explain(error: KafkaError, config: ClientConfig, what: str) -> LakewardError:
    """The error to raise; `what` is the topic, or whatever was asked for."""
    name, said = error.name(), config.hide(error.str()).strip().rstrip(".")
    if name == "_SSL":
        return ErrorCode.AUTHENTICATE.error(
            f"Kafka at {config.servers}: no secure connection: {said}. Check 'properties.security.protocol' and the"
            " certificates ('properties.ssl.ca.location')."
        )
    if name in _LOGIN:
        return ErrorCode.AUTHENTICATE.error(
            f"Kafka at {config.servers} refuses the login: {said}. Check 'properties.sasl.username',"
            " 'properties.sasl.password', 'properties.sasl.mechanism' and 'properties.security.protocol'."
        )
    if name in _NO_RIGHT:
        return ErrorCode.AUTHENTICATE.error(
            f"Kafka at {config.servers}: no right to {_NO_RIGHT[name]} ({what}). Ask for an ACL, or use another login."
        )
    if name in _UNKNOWN_TOPIC:
        return ErrorCode.TABLE_NOT_EXIST.error(
            f"Kafka at {config.servers} has no {what}. Check the name, or make it first."
        )
    if name in _AWAY:
        return ErrorCode.NETWORK.error(
            f"Kafka at {config.servers} cannot be reached ({said}). Check 'properties.bootstrap.servers' and that the"
            " brokers run."
        )
    if name in {"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"}:
        return ErrorCode.RECORD_TOO_LARGE.error(
            f"A row is too large for {what}: raise the topic's 'max.message.bytes', and"
            " 'properties.message.max.bytes' of the table."
        )
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"Kafka at {config.servers}, {what}: {said}.")


def explain_setting(error: KafkaError, config: ClientConfig) -> LakewardError:
    """The error for a client that could not be made."""
    said = config.hide(error.str()).rstrip(".")
    return ErrorCode.INVALID_CONFIG.error(f"Kafka's client refuses a setting of 'properties.*': {said}.")
