"""Who sends metrics and spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lakeward.telemetry.otlp.wire import binary, text

_SCOPE = "lakeward"


class Resource(NamedTuple):
    """One process: its name among services, its version, and which of several it is."""

    service: str
    version: str
    instance: str


def attributes(field: int, pairs: Mapping[str, str]) -> bytes:
    """Names and texts, each as a KeyValue."""
    return b"".join(binary(field, text(1, key) + binary(2, text(1, value))) for key, value in pairs.items())


def envelope(resource: Resource, records: bytes) -> bytes:
    """A request with one resource and one scope, which has these records as its fields."""
    about = {
        "service.name": resource.service,
        "service.version": resource.version,
        "service.instance.id": resource.instance,
    }
    scope = binary(1, text(1, _SCOPE) + text(2, resource.version)) + records
    return binary(1, binary(1, attributes(1, about)) + binary(2, scope))
