"""Ownership: who may write to a remote directory, and how a server learns that it may not any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from failing_store import FailingStore

from lakeward.errors import ErrorCode, InvalidError, LakewardError, RetriableError
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.remote.access.fenced_store import FencedStore, claim_store
from lakeward.server.remote.access.ownership import Ownership, newest_owner, take_over


class World:
    """A store, and servers that come and go."""

    def __init__(self, root: Path) -> None:
        self.store = FailingStore(root)
        self.clock = ManualClock()

    def server(self, metadata: MemoryMetadataStore | None = None) -> Ownership:
        return Ownership(self.store, metadata or MemoryMetadataStore(), self.clock, SystemEntropy())


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Nobody has been here."""
    return World(tmp_path / "remote")


async def test_a_server_takes_a_new_epoch_at_every_start(world: World) -> None:
    """Its data directory keeps its identity, so it may; old epochs are tidied away."""
    metadata = MemoryMetadataStore()
    for epoch in range(6):
        server = world.server(metadata)
        await server.claim()
        assert server.epoch == epoch
    assert len(world.store.files("lakeward/owner")) == 3


async def test_another_data_directory_is_refused(world: World) -> None:
    """In one sentence that says what to do."""
    await world.server().claim()
    with pytest.raises(InvalidError, match=r"belongs to another server.*lakeward restore"):
        await world.server().claim()


async def test_who_was_replaced_writes_nothing_more(world: World) -> None:
    """Writes stop once the news is there, deletions look for news first; reads go on."""
    metadata = MemoryMetadataStore()
    store = await claim_store(world.store, metadata, world.clock, SystemEntropy())
    await store.put("a", b"1")
    await take_over(world.store, "another", world.clock)
    await store.put("b", b"2")  # nothing is known yet, and a new file harms nobody
    world.clock.advance(2000)
    for refused in (store.delete(["a"]), store.put("c", b"3"), store.delete_all("a")):
        with pytest.raises(LakewardError, match="taken over") as raised:
            await refused
        assert raised.value.code is ErrorCode.FENCED_LEADER_EPOCH
    assert await store.get("a") == b"1"
    assert {"a", "b"} <= world.store.files()
    assert "c" not in world.store.files()


async def test_of_two_that_take_over_one_gets_each_epoch(world: World) -> None:
    """The store decides."""
    first = await take_over(world.store, "one", world.clock)
    second = await take_over(world.store, "two", world.clock)
    assert (first.epoch, second.epoch) == (0, 1)
    assert await newest_owner(world.store) == second


async def test_a_silent_store_is_claimed_when_it_speaks(world: World) -> None:
    """The server starts; what it wants to write waits, and nothing is written before it owns the place."""
    world.store.fails = lambda operation, _: operation == "create"
    store: FencedStore = await claim_store(world.store, MemoryMetadataStore(), world.clock, SystemEntropy())
    with pytest.raises(RetriableError):
        await store.put("a", b"1")
    assert world.store.files() == set()
    world.store.fails = lambda *_: False
    await store.put("a", b"1")
    assert "a" in world.store.files()


async def test_a_silent_store_that_was_given_away_meanwhile(world: World) -> None:
    """The server learns it when the store is back."""
    metadata = MemoryMetadataStore()
    await world.server(metadata).claim()
    world.store.fails = lambda *_: True
    store = await claim_store(world.store, metadata, world.clock, SystemEntropy())
    world.store.fails = lambda *_: False
    await take_over(world.store, "another", world.clock)
    with pytest.raises(InvalidError, match="belongs to another server"):
        await store.put("a", b"1")
