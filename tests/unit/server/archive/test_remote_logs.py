"""Pointers, manifests and indexes of remote logs, as a server holds them."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from failing_store import FailingStore
from wire_tables import ID, table_json

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.json_form import DatabaseDescriptor, parse_descriptor
from lakeward.model.table import TablePath
from lakeward.remote.formats.layout import INDEX, TIME_INDEX, manifest_file, segment_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.server.archive.remote_indexes import RemoteIndexes
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.archive.remote_reads import RemoteReads, StillLoadingError
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.storage.log.segment.log_index import LogIndex


class World:
    """One table without rows, and a store."""

    def __init__(self, tmp_path: Path) -> None:
        self.store = FailingStore(tmp_path)
        self.metadata = MemoryMetadataStore()
        self.catalog = Catalog(self.metadata)
        self.catalog.put_database(DatabaseInfo("db", DatabaseDescriptor(), 0, 0))
        table = self.catalog.create_table(TablePath("db", "t"), parse_descriptor(table_json(ID)), 0)
        self.bucket = TableBucket(table.table_id, None, 0)
        self.logs = self.again()

    def again(self) -> RemoteLogs:
        """The same after a restart."""
        return RemoteLogs(self.metadata, self.catalog, self.store)

    async def commit(self, *bounds: int) -> LogManifest:
        """A manifest of segments between these offsets, with an index entry in the middle of each."""
        manifest = LogManifest(self.logs.place(self.bucket)).with_segments(
            RemoteSegment.whole(f"s{a}", a, b, b, 1000) for a, b in pairwise(bounds)
        )
        for segment in manifest.segments:
            index = LogIndex()
            half = (segment.end_offset - segment.start_offset) // 2
            index.add(half, 500, segment.start_offset + half, half)
            paths = [
                segment_file(manifest.place.log, segment.segment_id, segment.start_offset, suffix)
                for suffix in (INDEX, TIME_INDEX)
            ]
            await self.store.put(paths[0], index.offset_bytes())
            await self.store.put(paths[1], index.time_bytes())
        path = manifest_file(manifest.place.log, "m")
        await self.store.put(path, manifest.to_json())
        self.logs.commit(self.bucket, manifest, path)
        return manifest


async def test_pointers_survive_and_manifests_are_read_when_needed(tmp_path: Path) -> None:
    """Ends and starts are known at once; the manifest comes from the store, once."""
    world = World(tmp_path)
    assert world.logs.remote_end(world.bucket) == 0
    assert await world.logs.manifest(world.bucket) == LogManifest(world.logs.place(world.bucket))
    manifest = await world.commit(0, 10, 20)
    again = world.again()
    assert (again.remote_end(world.bucket), again.start_offset(world.bucket, 15)) == (20, 0)
    assert again.peek(world.bucket) is None
    assert await again.manifest(world.bucket) == manifest
    asked = len(world.store.asked)
    assert await again.manifest(world.bucket) == manifest
    assert len(world.store.asked) == asked
    again.forget([world.bucket])
    assert world.again().pointers == {}


async def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    """The error says which file of which bucket."""
    world = World(tmp_path)
    manifest = await world.commit(0, 10)
    await world.store.put(manifest_file(manifest.place.log, "m"), b"{")
    with pytest.raises(LakewardError, match=r"m\.manifest of TableBucket.* is damaged"):
        await world.again().manifest(world.bucket)


async def test_a_fetch_waits_for_what_must_be_looked_up_and_is_woken(tmp_path: Path) -> None:
    """Manifest, then index; when time is up it is told to begin at the segment's start."""
    world = World(tmp_path)
    await world.commit(0, 10, 20)
    woken: list[TableBucket] = []
    reads = RemoteReads(world.again(), RemoteIndexes(world.store, 1000), world.store, woken.append)

    def fetch(offset: int, *, time_is_up: bool = False, remote_first: bool = False) -> object:
        return reads.fetch_info(world.bucket, offset, 15, remote_first=remote_first, time_is_up=time_is_up)

    with pytest.raises(StillLoadingError):
        fetch(7)
    while not woken:
        await _turn()
    hasty = fetch(7, time_is_up=True)
    assert (hasty.first_start_pos, hasty.remote_log_segments[0].remote_log_segment_id) == (0, "s0")  # type: ignore[attr-defined]
    with pytest.raises(StillLoadingError):
        fetch(7)
    while len(woken) < 2:
        await _turn()
    assert fetch(7).first_start_pos == 500  # type: ignore[attr-defined]
    assert fetch(15) is None
    assert fetch(0).first_start_pos == 0  # type: ignore[attr-defined]
    assert len(fetch(0).remote_log_segments) == 2  # type: ignore[attr-defined]
    far = fetch(17, remote_first=True, time_is_up=True)
    assert [one.remote_log_segment_id for one in far.remote_log_segments] == ["s10"]  # type: ignore[attr-defined]
    assert fetch(20, remote_first=True) is None
    assert await reads.offset_of_time(world.bucket, 12, 15) == 10
    assert await reads.offset_of_time(world.bucket, 21, 15) is None


async def test_a_store_that_fails_is_told_to_who_waits(tmp_path: Path) -> None:
    """The next look at the fetch raises it, and the one after tries again."""
    world = World(tmp_path)
    await world.commit(0, 10)
    woken: list[TableBucket] = []
    reads = RemoteReads(world.again(), RemoteIndexes(world.store, 1000), world.store, woken.append)
    world.store.fails = lambda *_: True
    for error in (StillLoadingError, LakewardError, StillLoadingError):
        with pytest.raises(error):
            reads.fetch_info(world.bucket, 5, 10, remote_first=False, time_is_up=False)
        while reads._work:
            await _turn()
    assert len(woken) == 2


async def test_indexes_are_kept_as_long_as_there_is_room(tmp_path: Path) -> None:
    """Those used longest ago go first."""
    world = World(tmp_path)
    manifest = await world.commit(0, 10, 20, 30)
    indexes = RemoteIndexes(world.store, 1100)
    for segment in manifest.segments:
        await indexes.get(manifest.place.log, segment)
    assert len(indexes) == 2
    assert indexes.peek(manifest.segments[0]) is None
    assert indexes.peek(manifest.segments[2]) is not None


async def _turn() -> None:
    await asyncio.sleep(0.001)
