"""State that is restored: from the newest snapshot that the remote log reaches, or an older one."""

from __future__ import annotations

from pathlib import Path

import pytest
from failing_store import FailingStore

from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.books.kv_snapshots import RemoteSnapshot
from lakeward.server.remote.copies.snapshot_files import SnapshotFiles
from lakeward.server.restore.restored_state import restore_state
from lakeward.storage.kv.store.snapshots import PendingSnapshot, new_staging, newest_good_snapshot

PLACE = BucketPlace("db", "t", 1, 0)


class World:
    """Snapshots at the offsets 10, 20, 30 … in a store."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = FailingStore(directory / "remote")
        self.files = SnapshotFiles(self.store, PLACE.kv, TableBucket(1, None, 0))
        self.snapshots: list[RemoteSnapshot] = []

    async def copy(self, number: int) -> None:
        here = self.directory / "kv-0"
        here.mkdir(exist_ok=True)
        pending = PendingSnapshot(
            disk=LocalFiles(),
            directory=here,
            staging=new_staging(LocalFiles(), here),
            engine="rocksdb",
            log_offset=10 * number,
            row_count=number,
            live_bytes=0,
            extra={},
            fill=lambda staging: (staging / "a.sst").write_bytes(b"rows" * number) and None,
        )
        taken = pending.write()
        uploaded = await self.files.upload(taken, number, SystemEntropy(), None)
        path = await self.files.seal(uploaded, taken)
        self.snapshots.append(RemoteSnapshot(number, 10 * number, path, is_rocksdb=True))

    def restore(self, first: int, end: int) -> object:
        segment = RemoteSegment.whole("s", first, end, 1000, 1)
        return restore_state(self.store, LogManifest(PLACE, (segment,), end), self.snapshots, self.directory / "new")

    def restored_offset(self) -> int | None:
        found = newest_good_snapshot(LocalFiles(), self.directory / "new")
        return None if found is None else found.log_offset


@pytest.fixture
async def world(tmp_path: Path) -> World:
    """With three snapshots."""
    made = World(tmp_path)
    for number in (1, 2, 3):
        await made.copy(number)
    return made


async def test_the_newest_one_is_taken(world: World) -> None:
    """The log is needed from its offset on."""
    state = await world.restore(0, 45)  # type: ignore[misc]
    assert (state.log_offset, state.row_count, state.useless, state.troubles) == (30, 3, set(), [])
    assert world.restored_offset() == 30


async def test_one_that_knows_more_than_the_log_is_not(world: World) -> None:
    """It would disagree with what is written next; nobody is ever offered it again."""
    state = await world.restore(0, 25)  # type: ignore[misc]
    assert (state.log_offset, state.useless) == (20, {3})
    assert world.restored_offset() == 20


async def test_one_that_the_log_does_not_go_on_from_is_not(world: World) -> None:
    """The changes between them are gone; older snapshots are no better."""
    state = await world.restore(35, 45)  # type: ignore[misc]
    assert (state.log_offset, state.useless) == (35, {1, 2, 3})
    assert "older rows are lost" in state.troubles[-1]
    assert world.restored_offset() is None


@pytest.mark.parametrize("harm", ["cut", "changed", "gone", "metadata"])
async def test_a_damaged_one_is_passed_over(world: World, harm: str) -> None:
    """However it is damaged."""
    newest = world.snapshots[-1]
    metadata = await world.files.metadata(newest)
    name = (
        newest.metadata_path
        if harm == "metadata"
        else metadata.shared_files[0].path.removeprefix(world.store.url + "/")
    )
    path = world.store.root / name
    content = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if harm in {"cut", "metadata"} else b"X" + content[1:])
    state = await world.restore(0, 45)  # type: ignore[misc]
    assert (state.log_offset, state.useless) == (20, {3})
    assert "is damaged" in state.troubles[0]
    assert world.restored_offset() == 20
