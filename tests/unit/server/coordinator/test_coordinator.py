"""The coordinator as a whole."""

from __future__ import annotations

from coordinator_world import World

from lakeward.protocol.api import BETWEEN_SERVERS, Api
from lakeward.protocol.messages import database as messages
from lakeward.server.coordinator.handlers.service import handlers

ELSEWHERE = {
    *BETWEEN_SERVERS,
    Api.AUTHENTICATE,
    Api.API_VERSIONS,
    Api.PRODUCE_LOG,
    Api.FETCH_LOG,
    Api.PUT_KV,
    Api.LOOKUP,
    Api.PREFIX_LOOKUP,
    Api.LIST_OFFSETS,
    Api.LIMIT_SCAN,
    Api.SCAN_KV,
    Api.GET_TABLE_STATS,
    Api.GET_FILESYSTEM_SECURITY_TOKEN,
}


def test_every_control_api_has_a_handler(world: World) -> None:
    """But for the data path, which is the tablet's, keys to remote storage, and logins."""
    assert set(handlers(world.coordinator)) == set(Api) - ELSEWHERE


def test_the_default_database_is_made_only_where_there_is_none(world: World) -> None:
    """A server that has databases keeps the ones it has."""
    world.ask(Api.CREATE_DATABASE, messages.CreateDatabaseRequest(database_name="db", ignore_if_exists=False))
    again = World(store=world.store)
    assert [d.name for d in again.catalog.databases()] == ["db", "fluss"]


def test_partitions_missed_while_the_server_was_down_are_made_at_its_start(world: World) -> None:
    """The first tick does not wait for the interval."""
    world.create(partitions=["dt"], properties={"table.auto-partition.enabled": "true"})
    world.clock.advance(30 * 86_400_000)
    again = World(store=world.store, clock=world.clock)
    again.coordinator.tick()
    assert again.partitions() == ["20241211", "20241212"]
