"""Addresses as people write them, and the coordinator found again."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.client.cluster.cluster import Cluster, addresses
from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.forms.settings import ClientSettings
from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("localhost:9123", [("localhost", 9123)]),
        ("localhost", [("localhost", 9123)]),
        ("a:1, b:2,", [("a", 1), ("b", 2)]),
        (["a:1", "b"], [("a", 1), ("b", 9123)]),
        ("[::1]:5", [("::1", 5)]),
    ],
)
def test_addresses(given: str | list[str], found: list[tuple[str, int]]) -> None:
    """Text or list, port optional."""
    assert addresses(given) == found


@pytest.mark.parametrize("given", ["", " , ", "host:port", "host:0", "host:70000", ":9123", []])
def test_what_is_no_address_is_refused(given: str | list[str]) -> None:
    """The message shows the form."""
    with pytest.raises(LakewardError, match="host:port") as caught:
        addresses(given)
    assert caught.value.code is ErrorCode.INVALID_CONFIG


class Coordinator:
    """Fails as told, then answers."""

    def __init__(self, *failures: ErrorCode) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def request(self, *_: Any, **__: Any) -> str:
        """One call."""
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0).error()
        return "answer"


@pytest.fixture
async def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster whose metadata names a coordinator."""
    made = Cluster([Address("a", 1)], ClientSettings())
    made.metadata.coordinator = Address("boss", 1)

    async def refresh() -> None:
        made.metadata.coordinator = Address("boss", 1)

    monkeypatch.setattr(made.metadata, "refresh", refresh)
    return made


@pytest.mark.parametrize(
    ("api", "code", "asked"),
    [
        (Api.LIST_TABLES, ErrorCode.NETWORK, 2),
        (Api.CREATE_TABLE, ErrorCode.NETWORK, 1),
        (Api.CREATE_TABLE, ErrorCode.NOT_COORDINATOR_LEADER, 2),
        (Api.LIST_TABLES, ErrorCode.DATABASE_NOT_EXIST, 1),
    ],
)
async def test_only_what_is_safe_is_asked_twice(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, api: Api, code: ErrorCode, asked: int
) -> None:
    """A read may be repeated after a broken connection; a change may have happened already."""
    coordinator = Coordinator(code)

    async def channel(*_: Any) -> Coordinator:
        return coordinator

    monkeypatch.setattr(cluster.pool, "channel", channel)
    if asked == 2:
        assert await cluster.ask(api, None) == "answer"
    else:
        with pytest.raises(LakewardError):
            await cluster.ask(api, None)
    assert coordinator.asked == asked
    await cluster.close()
