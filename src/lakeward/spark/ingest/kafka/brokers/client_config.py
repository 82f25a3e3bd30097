"""ClientConfig: `properties.*` → the settings of librdkafka, never printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.options.spark import is_secret
from lakeward.spark.ingest.kafka.ground.kafka_options import BOOTSTRAP_SERVERS, PROPERTIES

#: What only Java's clients have, and what means nothing here.
_OF_JAVA = frozenset(
    {
        *(
            "key.serializer",
            "value.serializer",
            "key.deserializer",
            "value.deserializer",
            "partition.assignment.strategy",
        ),
        *("partition.discovery.interval.ms", "max.poll.records", "client.dns.lookup", "buffer.memory", "max.block.ms"),
        *("enable.auto.commit", "auto.commit.interval.ms", "auto.offset.reset", "partitioner.class"),
    }
)
_JAAS = "sasl.jaas.config"
_JAAS_VALUE = re.compile(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')
_PEM = {"ssl.truststore.location": "ssl.ca.location", "ssl.keystore.location": "ssl.certificate.location"}
_STORE = re.compile(r"ssl\.(truststore|keystore)\.(location|type|password)")
_SHOWN = ("bootstrap.servers", "group.id", "security.protocol", "sasl.mechanism", "isolation.level")


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """How to reach a cluster of brokers."""

    settings: Mapping[str, str] = field(repr=False)

    @classmethod
    def of_options(cls, options: Mapping[str, str], owner: str) -> ClientConfig:
        """Read from the options of a table; INVALID_CONFIG if there are no brokers."""
        given = {key.removeprefix(PROPERTIES): value for key, value in options.items() if key.startswith(PROPERTIES)}
        if not given.get("bootstrap.servers", "").strip():
            raise ErrorCode.INVALID_CONFIG.error(f"{owner} needs the option '{BOOTSTRAP_SERVERS.key}': host:port.")
        settings = {key: value for key, value in given.items() if key not in _OF_JAVA and key != _JAAS}
        settings.update(_login(given.get(_JAAS), settings))
        _convert_stores(settings, owner)
        if settings.get("ssl.endpoint.identification.algorithm") == "":
            settings["ssl.endpoint.identification.algorithm"] = "none"
        return cls(settings)

    def __repr__(self) -> str:
        shown = {key: self.settings[key] for key in _SHOWN if key in self.settings}
        return f"ClientConfig({shown})"

    @property
    def servers(self) -> str:
        """The brokers to ask first."""
        return self.settings["bootstrap.servers"]

    @property
    def group_id(self) -> str | None:
        """The consumer group, if one is given."""
        return self.settings.get("group.id")

    def consumer(self, **more: Any) -> dict[str, Any]:
        """For a consumer that is told what to read and commits nothing by itself."""
        return {
            "group.id": "lakeward",
            "isolation.level": "read_committed",
            "log_level": 0,
            **self.settings,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "allow.auto.create.topics": False,
            **more,
        }

    def producer(self, **more: Any) -> dict[str, Any]:
        """For a producer that writes a row once, and where Java's producers would."""
        own = {key: value for key, value in self.settings.items() if key not in {"group.id", "isolation.level"}}
        return {
            "log_level": 0,
            "linger.ms": 50,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 500_000,
            "partitioner": "murmur2_random",
            **own,
            "enable.idempotence": True,
            **more,
        }

    def hide(self, text: str) -> str:
        """A message of the client without secrets in it."""
        for key, value in self.settings.items():
            if value and is_secret(key):
                text = text.replace(value, "***")
        return text


def _login(jaas: str | None, settings: Mapping[str, str]) -> dict[str, str]:
    """User and password from Java's form of them."""
    if jaas is None:
        return {}
    found = {key: re.sub(r"\\(.)", r"\1", value) for key, value in _JAAS_VALUE.findall(jaas)}
    return {f"sasl.{key}": value for key, value in found.items() if f"sasl.{key}" not in settings}


def _convert_stores(settings: dict[str, str], owner: str) -> None:
    for java, ours in _PEM.items():
        place = settings.get(java)
        if place is None:
            continue
        if settings.get(java.replace("location", "type"), "").upper() != "PEM" and not place.endswith((".pem", ".crt")):
            raise ErrorCode.INVALID_CONFIG.error(
                f"{owner}: 'properties.{java}' is a key store of Java, which the client cannot open; give the"
                f" certificates as a PEM file with 'properties.{ours}'."
            )
        settings.setdefault(ours, place)
    for key in [key for key in settings if _STORE.fullmatch(key)]:
        del settings[key]
