"""confluent-kafka, where it is installed."""

from __future__ import annotations

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
