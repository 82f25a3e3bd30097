"""Server tags and rebalance, on a cluster of one."""

from __future__ import annotations

from coordinator_world import World

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages import cluster as messages

PERMANENT, TEMPORARY = 0, 1


def add(*servers: int, tag: int = PERMANENT) -> messages.AddServerTagRequest:
    """A request to tag servers."""
    return messages.AddServerTagRequest(server_ids=servers, server_tag=tag)


def remove(*servers: int, tag: int = PERMANENT) -> messages.RemoveServerTagRequest:
    """A request to remove a tag."""
    return messages.RemoveServerTagRequest(server_ids=servers, server_tag=tag)


def test_a_server_has_one_tag_at_a_time(world: World) -> None:
    """The same one again is no change; another one must wait until the first is removed."""
    world.ask(Api.ADD_SERVER_TAG, add(0))
    world.ask(Api.ADD_SERVER_TAG, add(0))
    refused = world.refusal(Api.ADD_SERVER_TAG, add(0, tag=TEMPORARY))
    assert refused.code is ErrorCode.SERVER_TAG_ALREADY_EXIST
    assert "PERMANENT_OFFLINE already exists for server 0" in refused.message
    refused = world.refusal(Api.REMOVE_SERVER_TAG, remove(0, tag=TEMPORARY))
    assert refused.code is ErrorCode.SERVER_TAG_NOT_EXIST
    world.ask(Api.REMOVE_SERVER_TAG, remove(0))
    world.ask(Api.ADD_SERVER_TAG, add(0, tag=TEMPORARY))


def test_a_tag_outlives_the_server(world: World) -> None:
    """It is kept in the metadata store."""
    world.ask(Api.ADD_SERVER_TAG, add(0))
    again = World(store=world.store)
    assert again.refusal(Api.ADD_SERVER_TAG, add(0, tag=TEMPORARY)).code is ErrorCode.SERVER_TAG_ALREADY_EXIST


def test_servers_that_are_not_there(world: World) -> None:
    """Nobody is tagged when one of them is unknown; a tag that is not there is removed easily."""
    assert world.refusal(Api.ADD_SERVER_TAG, add(0, 100)).code is ErrorCode.SERVER_NOT_EXIST
    world.ask(Api.ADD_SERVER_TAG, add(0, tag=TEMPORARY))
    world.ask(Api.REMOVE_SERVER_TAG, remove(100))
    assert world.refusal(Api.ADD_SERVER_TAG, add(0, tag=7)).code is ErrorCode.INVALID_CONFIG


def test_a_rebalance_is_done_when_it_is_asked_for(world: World) -> None:
    """There is nothing to move; only its own id is known."""
    empty = world.ask(Api.LIST_REBALANCE_PROGRESS, messages.ListRebalanceProgressRequest())
    assert empty == messages.ListRebalanceProgressResponse()
    made = world.ask(Api.REBALANCE, messages.RebalanceRequest(goals=(0, 1))).rebalance_id
    told = world.ask(Api.LIST_REBALANCE_PROGRESS, messages.ListRebalanceProgressRequest(rebalance_id=made))
    assert (told.rebalance_id, told.rebalance_status, told.table_progress) == (made, 3, ())
    world.ask(Api.CANCEL_REBALANCE, messages.CancelRebalanceRequest(rebalance_id=made))
    other = messages.CancelRebalanceRequest(rebalance_id="other")
    assert world.refusal(Api.CANCEL_REBALANCE, other).code is ErrorCode.NO_REBALANCE_IN_PROGRESS
    assert world.refusal(Api.REBALANCE, messages.RebalanceRequest(goals=(9,))).code is ErrorCode.REBALANCE_FAILURE
