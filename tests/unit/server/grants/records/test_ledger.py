"""What each principal asks for is counted; who asks for too much is read more slowly, and nobody else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from principals import ADMIN, ALICE, PrincipalClient, PrincipalWorld
from wire_client import HELLO

from lakeward.model.principal import Principal
from lakeward.protocol.api import Api
from lakeward.protocol.messages.cluster import AlterClusterConfigsRequest
from lakeward.protocol.messages.database import DatabaseExistsRequest
from lakeward.protocol.messages.shared import PbAlterConfig

QUESTION = DatabaseExistsRequest(database_name="fluss")
BOB = Principal("bob")


@pytest.fixture
def world() -> Iterator[PrincipalWorld]:
    """A server that lets everybody ask ten times a second."""
    found = PrincipalWorld(**{"quota.requests-per-second": "10"})
    yield found
    found.stop()


def seconds_for(world: PrincipalWorld, client: PrincipalClient, count: int) -> float:
    """How long so many questions take; the simulated clock moves only for whoever waits."""
    begun = world.clock.monotonic()
    for _ in range(count):
        client.call(Api.DATABASE_EXISTS, QUESTION)
    return world.clock.monotonic() - begun


def test_who_asks_too_often_waits_and_is_answered(world: PrincipalWorld) -> None:
    """Ten at once, then ten a second; all are answered, on however many connections."""
    assert seconds_for(world, world.alice, 10) == pytest.approx(0.0, abs=0.05)
    assert seconds_for(world, world.alice, 20) == pytest.approx(2.0, abs=0.2)
    assert seconds_for(world, world.client(ALICE), 11) == pytest.approx(1.0, abs=0.2)


def test_others_are_not_slowed_down(world: PrincipalWorld) -> None:
    """Neither another user nor a super user, who has no quota."""
    seconds_for(world, world.alice, 30)
    assert seconds_for(world, world.client(BOB), 10) == pytest.approx(0.0, abs=0.05)
    assert seconds_for(world, world.client(ADMIN), 100) == pytest.approx(0.0, abs=0.05)


def test_what_is_sent_at_once_is_taken_bit_by_bit(world: PrincipalWorld) -> None:
    """A client that does not wait for answers is read no faster."""
    begun = world.clock.monotonic()
    sent = world.alice.send_all([(Api.DATABASE_EXISTS, QUESTION)] * 40)
    for request_id in sent:
        assert world.alice.answer(request_id).exists
    assert world.clock.monotonic() - begun == pytest.approx(3.0, abs=0.2)


def test_logging_in_is_nobodys_expense(world: PrincipalWorld) -> None:
    """Before somebody has said who they are, they are all the same, and must not wait for each other."""
    begun = world.clock.monotonic()
    for _ in range(50):
        world.alice.call(Api.API_VERSIONS, HELLO)
    assert world.clock.monotonic() - begun == pytest.approx(0.0, abs=0.05)


def test_a_quota_may_change_while_the_server_runs(world: PrincipalWorld) -> None:
    """Also for who is connected."""
    seconds_for(world, world.alice, 10)
    more = PbAlterConfig(config_key="quota.users.requests-per-second", config_value="alice:1000", op_type=0)
    world.admin.call(Api.ALTER_CLUSTER_CONFIGS, AlterClusterConfigsRequest(alter_configs=(more,)))
    assert seconds_for(world, world.alice, 100) == pytest.approx(0.0, abs=0.05)


def test_bytes_count_both_ways() -> None:
    """Requests and answers; here a kilobyte a second, for five questions of a kilobyte, the first of them saved up."""
    world = PrincipalWorld(**{"quota.users.bytes-per-second": "alice:1kb"})
    name = "n" * 1000
    begun = world.clock.monotonic()
    for _ in range(5):
        world.alice.call(Api.DATABASE_EXISTS, DatabaseExistsRequest(database_name=name))
    assert world.clock.monotonic() - begun == pytest.approx(3.0, abs=0.2)
    world.stop()


def test_calls_are_counted_by_principal(world: PrincipalWorld) -> None:
    """For /metrics: calls by API, bytes both ways."""
    seconds_for(world, world.alice, 3)
    seconds_for(world, world.client(BOB), 2)
    text = page(world)
    assert 'lakeward_principal_requests_total{principal="User:alice",api="DATABASE_EXISTS"} 3\n' in text
    assert 'lakeward_principal_requests_total{principal="User:bob",api="DATABASE_EXISTS"} 2\n' in text
    assert 'lakeward_principal_request_bytes_total{principal="User:alice"} 21\n' in text
    assert 'lakeward_principal_response_bytes_total{principal="User:alice"} 33\n' in text


def page(world: PrincipalWorld) -> str:
    """What GET /metrics shows."""
    client = world.client(ALICE)
    client.send_bytes(b"GET /metrics HTTP/1.1\r\n\r\n")
    world.server.loop.run_until(lambda: client.transport.is_closed)
    return client.transport.written.decode()
