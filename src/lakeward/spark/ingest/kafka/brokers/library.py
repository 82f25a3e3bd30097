"""confluent-kafka, where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lakeward.errors import ErrorCode


def kafka_library() -> Any:
    """The module; an error that names the extra where it is absent."""
    try:
        import confluent_kafka
    except ImportError:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            "Kafka needs the package confluent-kafka: pip install 'lakeward[kafka]'."
        ) from None
    return confluent_kafka


def admin_library() -> Any:
    """Its part that makes and describes topics."""
    kafka_library()
    return import_module("confluent_kafka.admin")
