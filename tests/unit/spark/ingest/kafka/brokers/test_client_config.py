"""Settings of the client: Java's forms are understood, and secrets are never shown."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.spark.ingest.kafka.brokers.client_config import ClientConfig


def config(**given: str) -> ClientConfig:
    """Settings by their names, with `_` for dots."""
    options = {f"properties.{key.replace('_', '.')}": value for key, value in given.items()}
    return ClientConfig.of_options({"properties.bootstrap.servers": "k:9092", "topic": "t", **options}, "Table x")


def test_settings_of_java_are_translated() -> None:
    """A login in JAAS, certificates in PEM; what only Java has is left out."""
    found = config(
        sasl_jaas_config='org.x.PlainLoginModule required username="ann" password="p\\"q";',
        key_deserializer="org.x.StringDeserializer",
        ssl_truststore_location="/x/ca.pem",
        ssl_truststore_type="PEM",
        ssl_endpoint_identification_algorithm="",
    )
    assert found.settings == {
        "bootstrap.servers": "k:9092",
        "sasl.username": "ann",
        "sasl.password": 'p"q',
        "ssl.ca.location": "/x/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }
    with pytest.raises(LakewardError, match=r"as a PEM file with 'properties\.ssl\.ca\.location'"):
        config(ssl_truststore_location="/x/trust.jks")


def test_secrets_are_not_shown() -> None:
    """Not by repr, and not in what the client says."""
    found = config(sasl_password="hunter2", group_id="g")
    assert "hunter2" not in repr(found)
    assert "'group.id': 'g'" in repr(found)
    assert found.hide('Invalid value "hunter2" for configuration property "sasl.password"') == (
        'Invalid value "***" for configuration property "sasl.password"'
    )


def test_brokers_must_be_named() -> None:
    """The option is named."""
    with pytest.raises(LakewardError, match=r"Table x needs the option 'properties\.bootstrap\.servers'"):
        ClientConfig.of_options({"topic": "t"}, "Table x")


def test_what_readers_and_writers_always_have() -> None:
    """Nothing is committed behind our back, whole transactions are read, and rows are written once."""
    consumer, producer = config(enable_auto_commit="true").consumer(), config(group_id="g").producer(acks="all")
    assert consumer["enable.auto.commit"] is False
    assert consumer["isolation.level"] == "read_committed"
    assert producer["enable.idempotence"] is True
    assert producer["partitioner"] == "murmur2_random"
    assert "group.id" not in producer
