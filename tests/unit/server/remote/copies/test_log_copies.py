"""Copies of closed segments: what is committed when, and what is left when something fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from failing_store import FailingStore
from logs import fill, open_log
from wire_tables import ID, table_json

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.json_form import DatabaseDescriptor, parse_descriptor
from lakeward.model.table import TablePath
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.buckets.replication import Alone
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.remote.copies.log_copies import CopyLimits, LogCopies
from lakeward.server.remote.copies.remote_garbage import RemoteGarbage
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.replica_log import ReplicaLog


class Replicas(Alone):
    """How far all replicas have the rows; None where another server leads."""

    def __init__(self) -> None:
        self.kept: int | None = 1 << 60

    def visible_end(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """What every one of them has."""
        if self.kept is None:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error("another one leads")
        return min(super().visible_end(bucket, log), self.kept)


class OneLog:
    """What copies ask of tablets, for one bucket."""

    def __init__(self, bucket: TableBucket, log: LogTablet, catalog: Catalog) -> None:
        self.bucket, self._log, self._catalog = bucket, log, catalog
        self.replication = Replicas()

    def all(self) -> list[tuple[TableBucket, LogTablet]]:
        """The one."""
        return [(self.bucket, self._log)]

    def open(self, _: TableBucket) -> LogTablet:
        """The one."""
        return self._log

    def find(self, _: TableBucket) -> LogTablet:
        """The one."""
        return self._log

    def table(self, bucket: TableBucket) -> Any:
        """Its table, while it is there."""
        found = self._catalog.table_by_id(bucket.table_id)
        if found is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error("gone")
        return found

    def exists(self, bucket: TableBucket) -> bool:
        """Whether it is there."""
        return self._catalog.bucket_exists(bucket)


class Setting:
    """A log with closed segments, a store and copies."""

    def __init__(self, tmp_path: Path, **limits: Any) -> None:
        self.clock = ManualClock()
        self.root = tmp_path / "remote"
        self.metadata = MemoryMetadataStore()
        self.catalog = Catalog(self.metadata)
        self.catalog.put_database(DatabaseInfo("db", DatabaseDescriptor(), 0, 0))
        table = self.catalog.create_table(TablePath("db", "t"), parse_descriptor(table_json(ID)), 0)
        self.bucket = TableBucket(table.table_id, None, 0)
        self.log = open_log(tmp_path / "log", segment_bytes_max=300, delete_delay_ms=0, ttl_ms=-1)
        self.store = FailingStore(self.root)
        self.limits = limits
        self.begin()

    def begin(self) -> None:
        """A server's life."""
        self.logs = RemoteLogs(self.metadata, self.catalog, self.store)
        self.garbage = RemoteGarbage(self.metadata, self.store, self.clock, 0)
        self.log.copied_offset = self.logs.remote_end(self.bucket)
        one = OneLog(self.bucket, self.log, self.catalog)
        self.replicas = one.replication
        self.copies = LogCopies(
            one,  # type: ignore[arg-type]
            one,  # type: ignore[arg-type]
            self.logs,
            self.store,
            self.garbage,
            CopyLimits(**self.limits),
            self.clock,
            SeededEntropy(7),
            lambda _: None,
            lambda _: self.log.retain(self.clock.settled_ms()),
            _settled,
        )

    async def copy(self) -> None:
        """Look once, and wait until nothing is under way."""
        for _ in self.copies.look():
            pass
        while self.copies._tasks:
            await asyncio.wait(list(self.copies._tasks.values()))
            await asyncio.sleep(0)
        while self.garbage._work is not None:
            await asyncio.wait([self.garbage._work])
            await asyncio.sleep(0)

    def manifest(self) -> LogManifest:
        """What the pointer names."""
        path = self.logs.pointers[self.bucket].remote_log_manifest_path
        return LogManifest.of_json((self.root / path).read_bytes())

    def files(self) -> list[str]:
        """Everything in the store."""
        return sorted(path.name for path in self.root.rglob("*") if path.is_file())


async def _settled() -> None:
    """Nothing waits for the disk here."""


async def test_closed_segments_are_copied_committed_and_go_from_here(tmp_path: Path) -> None:
    """All but the active segment are there; two stay here, and only one manifest is left."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    end = setting.log.active_offset
    await setting.copy()
    assert setting.manifest().end_offset == end == setting.logs.remote_end(setting.bucket)
    assert setting.log.segment_count == 2
    await setting.copy()
    assert sum(name.endswith(".manifest") for name in setting.files()) == 1
    assert not setting.copies.is_due(setting.bucket, setting.log, setting.clock.now_ms())


async def test_what_succeeded_before_a_failure_is_committed(tmp_path: Path) -> None:
    """The rest is tried again; nothing of the failed one stays behind."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    third = setting.log.closed_segments()[2]
    setting.store.fails = lambda _, path: path.endswith(f"{third.base_offset:020d}.index")
    await setting.copy()
    assert setting.manifest().end_offset == third.base_offset
    assert setting.log.start_offset == third.base_offset
    assert setting.copies.trouble.is_there
    setting.store.fails = lambda *_: False
    setting.clock.advance(60_000)
    await setting.copy()
    assert setting.manifest().end_offset == setting.log.active_offset
    assert not setting.copies.trouble.is_there
    await setting.copy()
    logs = [name for name in setting.files() if name.endswith(".log")]
    assert len(logs) == len(setting.manifest().segments)


async def test_a_manifest_that_cannot_be_written_commits_nothing(tmp_path: Path) -> None:
    """Everything is here as before, and what was uploaded goes."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    count = setting.log.segment_count
    setting.store.fails = lambda _, path: path.endswith(".manifest")
    await setting.copy()
    assert setting.logs.pointers == {}
    assert setting.log.segment_count == count
    setting.clock.advance(1)
    setting.garbage.collect()
    await setting.copy()
    assert [name for name in setting.files() if name.endswith(".manifest")] == []


async def test_a_life_that_ended_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    """Files that no manifest names are gone after the first copy of the next life."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    await setting.copy()
    orphan = setting.root / "log" / "db" / f"t-{setting.bucket.table_id}" / "0" / "an-id" / "00000000000000000000.log"
    orphan.parent.mkdir()
    orphan.write_bytes(b"half of a copy")
    setting.begin()
    fill(setting.log, 20)
    await setting.copy()
    assert not orphan.exists()
    assert setting.manifest().start_offset == 0
    assert setting.manifest().end_offset == setting.log.active_offset


async def test_rows_that_left_while_nothing_was_copied_begin_a_new_history(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A reader could not get across the gap, so what lies before it goes; it is said once."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    await setting.copy()
    old = setting.manifest().end_offset
    fill(setting.log, 40)
    setting.log.copied_offset = None
    setting.log.settings = setting.log.settings.__class__(
        segment_bytes_max=300, retention_bytes=300, ttl_ms=-1, delete_delay_ms=0, index_interval_bytes=64
    )
    setting.log.retain(setting.clock.now_ms())
    begin = setting.log.start_offset
    assert begin > old
    setting.log.settings = setting.log.settings.__class__(
        segment_bytes_max=300, ttl_ms=-1, delete_delay_ms=0, index_interval_bytes=64
    )
    await setting.copy()
    assert setting.manifest().start_offset == begin
    assert "neither here nor in remote storage" in caplog.text


async def test_rows_are_rolled_and_copied_on_demand(tmp_path: Path) -> None:
    """`copy_up_to` returns when the commit says so, and raises what prevents it."""
    setting = Setting(tmp_path)
    fill(setting.log, 3)
    await setting.copies.copy_up_to(setting.bucket, setting.log.end_offset)
    assert setting.manifest().end_offset == setting.log.end_offset
    fill(setting.log, 1)
    setting.store.fails = lambda *_: True
    with pytest.raises(Exception, match="cannot be used today"):
        await setting.copies.copy_up_to(setting.bucket, setting.log.end_offset)


async def test_a_table_that_is_dropped_meanwhile_commits_nothing(tmp_path: Path) -> None:
    """Its pointer stays away, and its files go."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)

    def drop(_: str, path: str) -> bool:
        if path.endswith(".manifest") and setting.catalog.table_by_id(setting.bucket.table_id) is not None:
            setting.catalog.drop_table(setting.bucket.table_id)
            directory = f"log/db/t-{setting.bucket.table_id}"
            setting.garbage.drop(directory, setting.copies.forget({setting.bucket}))
        return False

    setting.store.fails = drop
    await setting.copy()
    assert setting.logs.pointers == {}
    assert setting.files() == []
    assert not setting.copies.trouble.is_there


async def test_what_was_dropped_goes_after_a_restart_too(tmp_path: Path) -> None:
    """A drop that could not be finished is noted in the metadata store."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    await setting.copy()
    garbage = RemoteGarbage(setting.metadata, setting.store, setting.clock, 0)
    garbage.drop("log/db")
    await garbage.stop()
    again = RemoteGarbage(setting.metadata, setting.store, setting.clock, 0)
    assert len(again) == 1
    again.collect()
    assert again._work is not None
    await again._work
    assert setting.files() == []
    assert len(RemoteGarbage(setting.metadata, setting.store, setting.clock, 0)) == 0


async def test_only_what_all_replicas_have_is_copied_and_only_by_their_leader(tmp_path: Path) -> None:
    """A segment that ends behind that waits; a server that does not lead copies nothing."""
    setting = Setting(tmp_path)
    fill(setting.log, 40)
    ends = [one.end_offset for one in setting.log.closed_behind(0)]
    setting.replicas.kept = None
    await setting.copy()
    assert setting.bucket not in setting.logs.pointers
    setting.replicas.kept = ends[1] + 1
    await setting.copy()
    assert setting.manifest().end_offset == ends[1]
    setting.replicas.kept = ends[-1]
    await setting.copy()
    assert setting.manifest().end_offset == ends[-1]


async def test_a_manifest_of_another_leader_is_not_written_over(tmp_path: Path) -> None:
    """It was learned while segments were on their way: what was copied for nothing goes, and the next copy is whole."""
    setting = Setting(tmp_path, segments=1)
    fill(setting.log, 10)
    await setting.copy()
    fill(setting.log, 30)
    theirs = setting.manifest()
    upload = setting.store.put_file

    async def put_file(*args: Any, **more: Any) -> int:
        setting.store.put_file = upload  # type: ignore[method-assign]
        await setting.store.put("log/theirs", theirs.to_json())
        setting.logs.commit(setting.bucket, theirs, "log/theirs")
        return await upload(*args, **more)

    setting.store.put_file = put_file  # type: ignore[method-assign]
    for _ in setting.copies.look():
        pass
    while setting.copies._tasks:
        await asyncio.wait(list(setting.copies._tasks.values()))
        await asyncio.sleep(0)
    assert setting.logs.pointers[setting.bucket].remote_log_manifest_path == "log/theirs"
    await setting.copy()
    assert setting.manifest().end_offset > theirs.end_offset
    assert setting.manifest().segments[: len(theirs.segments)] == theirs.segments
