"""Restore: an empty directory becomes the data directory of a server that was lost."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import manifest_file
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.whole_file import replace_file
from lakeward.server.archive.remote_logs import RemoteLogs, RemotePointer
from lakeward.server.books.kv_snapshots import KvSnapshots
from lakeward.server.books.lake_snapshots import LakeSnapshots
from lakeward.server.books.offsets_files import OffsetsFiles
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.remote.access.ownership import newest_owner, take_over
from lakeward.server.restore.report import RestoredTable, RestoreReport
from lakeward.server.restore.restored_log import begin_log, fetch_log, give_up, true_manifest
from lakeward.server.restore.restored_metadata import adopt, lake_files, move_lake_files
from lakeward.server.restore.restored_state import restore_state
from lakeward.server.restore.source import ALIVE_MS, SignOfLife, fetch_metadata, sign_of_life, tablets_signs
from lakeward.storage.disk.directories import RESTORING_FILE, DataDirectory

_PARALLEL = 8
_LOCK_FILE = "lakeward.lock"


class Restore:
    """One restore, from one store into one directory."""

    def __init__(
        self, store: RemoteStore, directory: Path, clock: Clock, entropy: Entropy, told: Callable[[str], None]
    ) -> None:
        """`told` hears what is being done, a sentence at a time."""
        self._store = store
        self._root = directory
        self._clock = clock
        self._entropy = entropy
        self._told = told

    async def run(self, *, is_forced: bool = False) -> RestoreReport:
        """Bring everything back. `is_forced` takes over from a server that still gives signs of life."""
        self._check_target()
        seen = await self._check_source(is_forced=is_forced)
        disk = LocalFiles()
        with DataDirectory(disk, self._root, is_restored=True) as directory:
            self._begin(directory)
            owner = await take_over(self._store, str(self._entropy.uuid()), self._clock)
            report = RestoreReport(
                self._store.url,
                owner.epoch,
                None if seen is None else seen.at_ms,
                seen is not None and seen.was_stopped,
            )
            report.troubles += await fetch_metadata(self._store, directory.metadata_file)
            metadata = SqliteMetadataStore(disk, self._entropy, directory.metadata_file)
            try:
                adopt(metadata, owner.server_id)
                await self._bring_lake_files(metadata, directory.root)
                buckets = _Buckets(
                    self._store, metadata, directory, seen, report, self._clock, self._entropy, self._told
                )
                await buckets.bring()
            finally:
                metadata.close()
            await asyncio.to_thread(os.sync)
            await self._store.delete(await tablets_signs(self._store))  # the logs are shorter now
            (directory.root / RESTORING_FILE).unlink()
        return report

    def _check_target(self) -> None:
        if not self._root.exists():
            return
        found = {path.name for path in self._root.iterdir()} - {_LOCK_FILE}
        if found and RESTORING_FILE not in found:
            raise ErrorCode.INVALID_CONFIG.error(
                f"The directory {self._root} is not empty; a server is restored into an empty one."
            )

    async def _check_source(self, *, is_forced: bool) -> SignOfLife | None:
        owner = await newest_owner(self._store)
        if owner is None:
            raise ErrorCode.INVALID_CONFIG.error(
                f"There is nothing to restore in {self._store.url}: no server has written there."
            )
        seen = await sign_of_life(self._store)
        if seen is not None and not seen.was_stopped and seen.age_ms < ALIVE_MS and not is_forced:
            ago_ms = max(seen.age_ms, 0)
            raise ErrorCode.INVALID_CONFIG.error(
                f"The server that writes to {self._store.url} ({owner}) gave a sign of life {ago_ms // 1000} s ago. "
                f"If it is dead, try again in {(ALIVE_MS - ago_ms) // 1000 + 1} s. Else stop it, or say --take-over: "
                "it then notices within seconds that it was replaced, and takes no more writes."
            )
        return seen

    def _begin(self, directory: DataDirectory) -> None:
        """Mark the directory, and clear what an interrupted restore left."""
        marker = {"from": self._store.url, "since_ms": self._clock.now_ms()}
        replace_file(directory.disk, directory.root / RESTORING_FILE, json.dumps(marker).encode())
        for path in directory.root.iterdir():
            if path.name in {RESTORING_FILE, _LOCK_FILE}:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    async def _bring_lake_files(self, metadata: SqliteMetadataStore, root: Path) -> None:
        """Files of lake offsets live in the remote directory if that is one here, else beside the data."""
        url = self._store.url.removeprefix("file://")
        if "://" not in url:
            move_lake_files(metadata, Path(url))
            return
        for path in lake_files(metadata):
            if await self._store.head(path) is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                await self._store.get_file(path, root / path)
        move_lake_files(metadata, root)


class _Buckets:
    """All buckets of all tables, several at a time."""

    def __init__(
        self,
        store: RemoteStore,
        metadata: SqliteMetadataStore,
        directory: DataDirectory,
        seen: SignOfLife | None,
        report: RestoreReport,
        clock: Clock,
        entropy: Entropy,
        told: Callable[[str], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._directory = directory
        self._ends = {} if seen is None else seen.ends
        self._report = report
        self._told = told
        self._catalog = Catalog(metadata)
        self._logs = RemoteLogs(metadata, self._catalog, store)
        self._snapshots = KvSnapshots(metadata, SnapshotLeases(metadata))
        files = OffsetsFiles(directory.disk, lambda _: directory.root, entropy)
        self._lake = LakeSnapshots(metadata, files)

    async def bring(self) -> None:
        turns = asyncio.Semaphore(_PARALLEL)
        for info in self._catalog.tables():
            table = RestoredTable(info)
            self._report.tables.append(table)
            self._told(f"{info.path} …")
            try:
                self._lake.tiered_offsets(info)
            except LakewardError as unread:
                table.troubles.append(f"how far the lake is cannot be read ({unread.message})")

            async def one(bucket: TableBucket, table: RestoredTable = table) -> None:
                async with turns:
                    await self._bring(bucket, table)

            done = await asyncio.gather(*map(one, self._catalog.buckets_of(info)), return_exceptions=True)
            for wrong in done:
                if isinstance(wrong, BaseException):
                    raise wrong
            if table.lake_note is not None:
                table.troubles.append(table.lake_note)

    async def _bring(self, bucket: TableBucket, table: RestoredTable) -> None:
        table.buckets += 1
        pointer = self._logs.pointers.get(bucket)
        in_lake = self._lake.tiered_offset(table.info, bucket)
        end = 0
        if pointer is not None:
            manifest = await self._settle_manifest(bucket, pointer, table)
            end = max(manifest.copied_end_offset, 0)
        if in_lake > end:
            await self._go_on_behind_lake(bucket, in_lake, table)
            end = in_lake
        elif pointer is None:
            self._discard_snapshots(bucket)
        else:
            await self._bring_copied(bucket, manifest, table)
        table.lost_rows += max(self._ends.get(bucket, 0) - end, 0)

    async def _settle_manifest(self, bucket: TableBucket, pointer: RemotePointer, table: RestoredTable) -> LogManifest:
        """Let the manifest count that reaches farthest."""
        named = pointer.remote_log_manifest_path
        manifest, trouble = await true_manifest(self._store, self._logs.place(bucket), named)
        if RemotePointer.of(named, manifest) != pointer:
            await self._commit(bucket, manifest)
        if trouble is not None:
            table.troubles.append(f"bucket {bucket.bucket}: {trouble}")
        return manifest

    async def _commit(self, bucket: TableBucket, manifest: LogManifest) -> None:
        path = manifest_file(manifest.place.log, str(self._entropy.uuid()))
        await self._store.put(path, manifest.to_json())
        self._logs.commit(bucket, manifest, path)

    def _discard_snapshots(self, bucket: TableBucket) -> None:
        self._snapshots.discard(bucket, {one.snapshot_id for one in self._snapshots.of(bucket)})

    async def _go_on_behind_lake(self, bucket: TableBucket, in_lake: int, table: RestoredTable) -> None:
        """The lake has more than was copied: the log begins where the lake ends, and what lies before is read there.

        Between what was copied and that, no row of the log is left; with a hole in it nobody could read on.
        """
        manifest = LogManifest(self._logs.place(bucket), copied_end_offset=in_lake)
        await self._commit(bucket, manifest)
        log_directory = self._directory.log(self._parent(bucket), bucket.bucket)
        await begin_log(self._store, manifest, log_directory)
        table.lake_rows += in_lake
        if table.info.descriptor.has_primary_key:
            self._discard_snapshots(bucket)
            table.emptied += 1
            give_up(log_directory, in_lake, "the rows are in the lake alone", self._clock.now_ms())

    async def _bring_copied(self, bucket: TableBucket, manifest: LogManifest, table: RestoredTable) -> None:
        parent = self._parent(bucket)
        log_directory = self._directory.log(parent, bucket.bucket)
        end = max(manifest.copied_end_offset, 0)
        if table.info.descriptor.has_primary_key:
            state = await restore_state(
                self._store, manifest, self._snapshots.of(bucket), self._directory.kv(parent, bucket.bucket)
            )
            self._snapshots.discard(bucket, state.useless)
            self._report.downloaded_bytes += state.size_bytes
            self._report.downloaded_bytes += await fetch_log(self._store, manifest, state.log_offset, log_directory)
            table.snapshot_rows += state.row_count
            table.changes_since += end - state.log_offset
            table.troubles += [f"bucket {bucket.bucket}: {one}" for one in state.troubles]
            if state.is_lost:
                give_up(log_directory, state.log_offset, "no snapshot of the state is left", self._clock.now_ms())
        await begin_log(self._store, manifest, log_directory)
        table.log_rows += end
        if manifest.segments:
            table.last_ms = max(table.last_ms or 0, manifest.segments[-1].time_ms_max)

    def _parent(self, bucket: TableBucket) -> Path:
        table = self._catalog.table_by_id(bucket.table_id)
        assert table is not None
        if bucket.partition_id is None:
            return self._directory.table(table.path, table.table_id)
        partition = self._catalog.partition_by_id(bucket.partition_id)
        assert partition is not None
        return self._directory.partition(table.path, table.table_id, partition.name, partition.partition_id)
