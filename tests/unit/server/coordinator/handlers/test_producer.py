"""Producer offsets through the wire's own forms."""

from __future__ import annotations

import pytest
from coordinator_world import World

from lakeward.protocol.api import Api
from lakeward.protocol.messages import log as messages
from lakeward.protocol.messages.shared import PbBucketOffset

CREATED, ALREADY_EXISTS, INVALID_ID = 0, 1, 63
DAY_MS = 86_400_000


def register(
    end: int | None = 5, ttl_ms: int | None = None, producer: str = "p"
) -> messages.RegisterProducerOffsetsRequest:
    """A request to register offsets of two tables."""
    return messages.RegisterProducerOffsetsRequest(
        producer_id=producer,
        ttl_ms=ttl_ms,
        table_offsets=(
            messages.PbProducerTableOffsets(
                table_id=1,
                bucket_offsets=(
                    PbBucketOffset(bucket_id=0, log_end_offset=end),
                    PbBucketOffset(bucket_id=1, partition_id=7, log_end_offset=None),
                ),
            ),
            messages.PbProducerTableOffsets(
                table_id=2, bucket_offsets=(PbBucketOffset(bucket_id=0, log_end_offset=9),)
            ),
        ),
    )


def get(world: World, producer: str = "p") -> messages.GetProducerOffsetsResponse:
    """What a producer registered."""
    answer = world.ask(Api.GET_PRODUCER_OFFSETS, messages.GetProducerOffsetsRequest(producer_id=producer))
    assert isinstance(answer, messages.GetProducerOffsetsResponse)
    return answer


def test_offsets_are_kept_as_sent(world: World) -> None:
    """Absent offsets and partitions stay absent."""
    assert world.ask(Api.REGISTER_PRODUCER_OFFSETS, register()).result == CREATED
    answer = get(world)
    assert answer.producer_id == "p"
    assert answer.table_offsets == register().table_offsets
    assert answer.expiration_time == world.clock.now_ms() + DAY_MS


def test_the_first_registration_stands_until_it_expires(world: World) -> None:
    """Create if absent; an expired one is replaced."""
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(5, ttl_ms=1000))
    assert world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(6)).result == ALREADY_EXISTS
    assert get(world).table_offsets[0].bucket_offsets[0].log_end_offset == 5
    world.clock.advance(1000)
    assert get(world).producer_id == "p", "what has expired is told until it is removed"
    assert world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(6)).result == CREATED
    assert get(world).table_offsets[0].bucket_offsets[0].log_end_offset == 6


def test_registrations_outlive_the_server(world: World) -> None:
    """They are kept in the metadata store."""
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register())
    assert get(World(store=world.store)).producer_id == "p"


def test_expired_registrations_are_removed_in_time(world: World) -> None:
    """Once an hour."""
    world.coordinator.tick()
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(ttl_ms=1000))
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(producer="q"))
    world.clock.advance(3_600_000)
    world.coordinator.tick()
    assert get(world) == messages.GetProducerOffsetsResponse()
    assert get(world, "q").producer_id == "q"


def test_deleting_forgets(world: World) -> None:
    """An unknown producer is fine."""
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register())
    for _ in range(2):
        world.ask(Api.DELETE_PRODUCER_OFFSETS, messages.DeleteProducerOffsetsRequest(producer_id="p"))
        assert get(world) == messages.GetProducerOffsetsResponse()


@pytest.mark.parametrize("producer", ["", "a b", "../x", "a" * 201])
def test_a_producer_has_a_plain_name(world: World, producer: str) -> None:
    """All three calls say so; a reserved prefix is allowed here."""
    for api, request in (
        (Api.REGISTER_PRODUCER_OFFSETS, register(producer=producer)),
        (Api.GET_PRODUCER_OFFSETS, messages.GetProducerOffsetsRequest(producer_id=producer)),
        (Api.DELETE_PRODUCER_OFFSETS, messages.DeleteProducerOffsetsRequest(producer_id=producer)),
    ):
        assert world.refusal(api, request).code.value == INVALID_ID
    world.ask(Api.REGISTER_PRODUCER_OFFSETS, register(producer="__internal"))
