"""SnapshotCopies: a snapshot is all there or not at all, files are shared, and what nobody needs goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from eventually import soon
from failing_store import FailingStore

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.snapshot_metadata import SnapshotFile, SnapshotMetadata
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.books.kv_snapshots import KvSnapshots, RemoteSnapshot
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.remote.copies.snapshot_copies import SnapshotBook, SnapshotCopies
from lakeward.storage.kv.store.held_snapshot import HeldSnapshot, hold_newest
from lakeward.storage.kv.store.snapshots import PendingSnapshot, Snapshot, new_staging

BUCKET = TableBucket(1, None, 0)
PLACE = BucketPlace("db", "t", 1, 0)
OFFSETS_PER_TURN = 10


class World:
    """One bucket, its snapshots here and there, and a log that is copied when it is asked for."""

    def __init__(self, directory: Path) -> None:
        self.local = directory / "kv-0"
        self.local.mkdir()
        self.store = FailingStore(directory / "remote")
        self.metadata = MemoryMetadataStore()
        self.leases = SnapshotLeases(self.metadata)
        self.snapshots = KvSnapshots(self.metadata, self.leases)
        self.copied_up_to = 0
        self.is_dropped = False
        self.copies = self.begin()

    def begin(self, book: SnapshotBook | None = None) -> SnapshotCopies:
        async def settled() -> None:
            return None

        parts = self.store, self.snapshots, self, lambda: 2, settled, SystemClock(), SystemEntropy()
        return SnapshotCopies(*parts, book=book, sweeps=book is None)

    def place(self, _: TableBucket) -> BucketPlace:
        if self.is_dropped:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error("It was dropped.")
        return PLACE

    async def copy_up_to(self, _: TableBucket, offset: int) -> None:
        assert not any(path.endswith(f"snap-{self.snapshots.next_id(BUCKET)}/_METADATA") for path in self.store.files())
        self.copied_up_to = offset

    def take(self, turn: int, **files: bytes) -> Snapshot:
        """A snapshot of so many files, taken here."""

        def fill(staging: Path) -> None:
            for name, content in files.items():
                (staging / name.replace("_", ".")).write_bytes(content)

        return PendingSnapshot(
            disk=LocalFiles(),
            directory=self.local,
            staging=new_staging(LocalFiles(), self.local),
            engine="rocksdb",
            log_offset=turn * OFFSETS_PER_TURN,
            row_count=turn,
            live_bytes=turn,
            extra={},
            fill=fill,
        ).write()

    async def copy(self, turn: int, **files: bytes) -> None:
        """Take one and have it copied."""
        self.copies.add(BUCKET, HeldSnapshot(self.take(turn, **files)))
        await self.quiet()

    async def quiet(self) -> None:
        """Nothing is under way."""
        assert await soon(lambda: not self.copies.waiting and not self.copies._removals)

    def metadata_of(self, snapshot_id: int) -> SnapshotMetadata:
        """What is stored of a snapshot."""
        return SnapshotMetadata.of_json((self.store.root / PLACE.kv / f"snap-{snapshot_id}" / "_METADATA").read_bytes())

    def file(self, one: SnapshotFile) -> Path:
        """Where a file is that a snapshot names."""
        return self.store.root / one.path.removeprefix(self.store.url + "/")

    def check(self) -> None:
        """All that is named is there, whole; all that is there is named."""
        named: dict[str, int] = {}
        for one in self.snapshots.of(BUCKET):
            metadata = self.metadata_of(one.snapshot_id)
            assert metadata.log_offset == one.log_offset <= self.copied_up_to
            named[one.metadata_path] = len(metadata.to_json())
            named |= {file.path.removeprefix(self.store.url + "/"): file.size_bytes for file in metadata.files}
        present = {path: (self.store.root / path).stat().st_size for path in self.store.files("kv")}
        assert present == named
        assert not list(self.local.glob("held-*"))


@pytest.fixture
async def world(tmp_path: Path) -> World:
    """Nothing has been copied."""
    return World(tmp_path)


async def test_a_snapshot_is_copied_once_the_log_is(world: World) -> None:
    """Its files have names of their own in its metadata."""
    await world.copy(1, a_sst=b"aaa", CURRENT=b"1")
    world.check()
    found = world.metadata_of(0)
    assert {file.name for file in found.shared_files} == {"a.sst"}
    assert {file.name for file in found.own_files} == {"CURRENT", "manifest.json"}
    assert (found.log_offset, found.row_count) == (10, 1)


async def test_what_two_snapshots_have_is_copied_once(world: World) -> None:
    """By name, size and checksum; also after a restart, when it has to be read back."""
    await world.copy(1, a_sst=b"aaa", b_sst=b"bbb", CURRENT=b"1")
    await world.copy(2, a_sst=b"aaa", b_sst=b"BBB", CURRENT=b"2")
    paths = [{file.name: file.path for file in world.metadata_of(number).shared_files} for number in (0, 1)]
    assert paths[0]["a.sst"] == paths[1]["a.sst"]
    assert paths[0]["b.sst"] != paths[1]["b.sst"]
    assert world.metadata_of(1).incremental_bytes < sum(file.size_bytes for file in world.metadata_of(1).files)
    world.copies = world.begin()
    await world.copy(3, a_sst=b"aaa", CURRENT=b"3")
    assert world.metadata_of(2).shared_files[0].path == paths[0]["a.sst"]
    world.check()


async def test_old_ones_go_and_leased_ones_stay(world: World) -> None:
    """A shared file goes with the last snapshot that has it."""
    await world.copy(1, a_sst=b"aaa", only_sst=b"x")
    world.leases.acquire("reader", 2**60, {BUCKET: 0})
    for turn in range(2, 6):
        await world.copy(turn, a_sst=b"aaa", CURRENT=bytes([turn]))
    assert [one.snapshot_id for one in world.snapshots.of(BUCKET)] == [0, 3, 4]
    world.check()
    world.leases.drop("reader")
    list(world.copies.look())
    await world.quiet()
    assert [one.snapshot_id for one in world.snapshots.of(BUCKET)] == [3, 4]
    world.check()


@pytest.mark.parametrize("operation", ["put_file", "put"])
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_copy_that_fails_leaves_nothing_and_is_tried_again(world: World, operation: str, number: int) -> None:
    """Whichever call fails."""
    await world.copy(1, a_sst=b"aaa", CURRENT=b"1")
    count = 0

    def fails(asked: str, path: str) -> bool:
        nonlocal count
        count += asked == operation and path.startswith("kv/")
        return asked == operation and path.startswith("kv/") and count == number

    world.store.fails = fails
    await world.copy(2, b_sst=b"bbb", c_sst=b"ccc", CURRENT=b"2")
    assert [one.log_offset for one in world.snapshots.of(BUCKET)] == [10, 20]
    world.check()


async def test_while_the_store_is_away_only_the_newest_waits(world: World) -> None:
    """Older ones are let go, here too; the copy comes when the store is back."""
    world.store.fails = lambda *_: True
    for turn in range(1, 5):
        world.copies.add(BUCKET, HeldSnapshot(world.take(turn, a_sst=bytes([turn]))))
        await asyncio.sleep(0.05)
    assert len(list(world.local.glob("held-*"))) <= 2
    world.store.fails = lambda *_: False
    await world.quiet()
    assert world.snapshots.latest(BUCKET).log_offset == 40  # type: ignore[union-attr]
    assert world.copies.trouble.failures_total > 0
    world.check()


async def test_what_a_crash_left_is_swept(world: World) -> None:
    """At the first copy after it."""
    await world.copy(1, a_sst=b"aaa")
    for name in ("shared/orphan", "snap-7/orphan", "snap-7/_METADATA"):
        path = world.store.root / PLACE.kv / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left")
    world.copies = world.begin()
    await world.copy(2, a_sst=b"aaa", b_sst=b"b")
    world.check()


async def test_a_dropped_bucket_is_let_go(world: World) -> None:
    """Nothing is committed, nothing stays here."""
    world.is_dropped = True
    await world.copy(1, a_sst=b"aaa")
    assert world.snapshots.of(BUCKET) == ()
    assert not list(world.local.glob("held-*"))


async def test_snapshots_of_before_a_restart_are_found(world: World) -> None:
    """The newest one, if it is not remote yet; what was held before is removed."""
    await world.copy(1, a_sst=b"aaa")
    newest = world.take(2, a_sst=b"aaa")
    HeldSnapshot(newest)
    held = hold_newest(LocalFiles(), world.local, world.snapshots.latest(BUCKET).log_offset)  # type: ignore[union-attr]
    assert held is not None
    assert held.snapshot.log_offset == 20
    world.copies.add(BUCKET, held)
    await world.quiet()
    world.check()
    assert hold_newest(LocalFiles(), world.local, 20) is None


class Elsewhere:
    """A coordinator that keeps one snapshot, and removes what only others have."""

    removes = True

    def __init__(self, world: World) -> None:
        self._world = world
        self._next_id = 7
        self.wrong: LakewardError | None = None

    async def next_snapshot_id(self, _: TableBucket) -> int | None:
        self._next_id += 1
        return self._next_id

    async def tell_snapshot(
        self, bucket: TableBucket, committed: RemoteSnapshot, metadata: SnapshotMetadata
    ) -> list[RemoteSnapshot]:
        wrong, self.wrong = self.wrong, None
        if wrong is not None:
            raise wrong
        needed = {file.path for file in metadata.files}
        for before in self._world.snapshots.of(bucket):
            for file in self._world.metadata_of(before.snapshot_id).files:
                if file.path not in needed:
                    self._world.file(file).unlink()
        return [committed]


async def test_whoever_decides_elsewhere_removes_and_what_it_removed_is_copied_again(world: World) -> None:
    """Numbers are its own; a file that came back is not taken for one that is there."""
    world.copies = world.begin(Elsewhere(world))
    await world.copy(1, a_sst=b"aaa", CURRENT=b"1")
    await world.copy(2, b_sst=b"bbb", CURRENT=b"2")
    await world.copy(3, a_sst=b"aaa", b_sst=b"bbb", CURRENT=b"3")
    (kept,) = world.snapshots.of(BUCKET)
    assert kept.snapshot_id == 10
    files = world.metadata_of(kept.snapshot_id).files
    assert {file.name for file in files} == {"a.sst", "b.sst", "CURRENT", "manifest.json"}
    assert [world.file(file).stat().st_size for file in files] == [file.size_bytes for file in files]


@pytest.mark.parametrize(
    ("code", "stays"), [(ErrorCode.NETWORK, True), (ErrorCode.REQUEST_TIME_OUT, True), (ErrorCode.KV_STORAGE, False)]
)
async def test_what_may_count_is_not_removed(world: World, code: ErrorCode, stays: bool) -> None:
    """A commit without an answer: its files stay. One that was refused leaves nothing."""
    elsewhere = Elsewhere(world)
    world.copies = world.begin(elsewhere)
    elsewhere.wrong = code.error("There was trouble.")
    world.copies.add(BUCKET, HeldSnapshot(world.take(1, a_sst=b"aaa")))
    assert await soon(lambda: elsewhere.wrong is None and not world.copies._tasks)
    assert bool(world.store.files("kv")) is stays
    await world.quiet()
    assert len(world.snapshots.of(BUCKET)) == 1
