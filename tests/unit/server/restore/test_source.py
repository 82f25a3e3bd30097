"""What a remote directory says of the server that wrote it: signs of life, of its tablet servers as well."""

from __future__ import annotations

from pathlib import Path

from failing_store import FailingStore

from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.remote.access.ownership import Ownership
from lakeward.server.restore.source import sign_of_life

FIRST, SECOND = TableBucket(1, None, 0), TableBucket(1, None, 1)


async def test_the_signs_of_tablet_servers_count(tmp_path: Path) -> None:
    """The farthest end of each bucket, the oldest sign, and a stop only where all have stopped."""
    store, clock, metadata = FailingStore(tmp_path), ManualClock(), MemoryMetadataStore()
    assert await sign_of_life(store) is None
    older = Ownership(store, metadata, clock, SystemEntropy())
    await older.look({})
    await older.look({FIRST: 5, SECOND: 9}, tablet=1)
    server = Ownership(store, metadata, clock, SystemEntropy())
    clock.advance(60)
    await server.look({}, tablet=0)
    at_ms = clock.now_ms()
    clock.advance(1)
    await server.look({}, is_stopped=True)
    found = await sign_of_life(store)
    assert found is not None
    assert (found.ends, found.at_ms, found.was_stopped) == ({FIRST: 5, SECOND: 9}, at_ms, False)
    await server.look({FIRST: 7}, tablet=0, is_stopped=True)
    found = await sign_of_life(store)
    assert found is not None
    assert found.ends == {FIRST: 7, SECOND: 9}
    assert found.was_stopped, "who was there in an earlier life is not waited for"
