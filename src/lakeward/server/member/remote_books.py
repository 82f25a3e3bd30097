"""RemoteBooks: what is in remote storage of the buckets of this server, kept by a coordinator elsewhere.

COMMIT_REMOTE_LOG_MANIFEST, COMMIT_KV_SNAPSHOT; and before a bucket is led, what was committed of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.servers.reports import CommitKvSnapshotRequest, CommitRemoteLogManifestRequest
from lakeward.protocol.messages.snapshot import ListKvSnapshotsRequest, ListRemoteLogManifestsRequest
from lakeward.remote.formats.snapshot_metadata import FILE_NAME, SnapshotMetadata, snapshot_directory
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.archive.remote_logs import RemoteLogs, RemotePointer
from lakeward.server.books.kv_snapshots import KvSnapshots, RemoteSnapshot
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.member.coordinator import CoordinatorLink

_log = logging.getLogger(__name__)
_NOTHING = -1
_PATIENCE_S, _SILENCE_S = 2.0, 30.0
_T = TypeVar("_T")


class RemoteBooks:
    """Tells and asks the coordinator."""

    def __init__(self, coordinator: CoordinatorLink, store: RemoteStore, led: Leadership) -> None:
        self._coordinator = coordinator
        self._store = store
        self._led = led
        self._loop = asyncio.get_running_loop()
        self._silent_until = 0.0

    async def tell_pointer(self, bucket: TableBucket, pointer: RemotePointer) -> None:
        """Have a manifest count from now on."""
        start = pointer.remote_log_start_offset
        request = CommitRemoteLogManifestRequest(
            table_id=bucket.table_id,
            partition_id=bucket.partition_id,
            bucket_id=bucket.bucket,
            remote_log_manifest_path=f"{self._store.url}/{pointer.remote_log_manifest_path}",
            remote_log_start_offset=_NOTHING if start is None else start,
            remote_log_end_offset=pointer.remote_log_end_offset,
            coordinator_epoch=self._led.coordinator_epoch,
            bucket_leader_epoch=self._epoch(bucket),
        )
        answer = await self._coordinator.ask(Api.COMMIT_REMOTE_LOG_MANIFEST, request)
        if not answer.commit_success:
            raise ErrorCode.LOG_STORAGE.error(f"The coordinator did not take the manifest of {bucket}.")

    async def tell_snapshot(
        self, bucket: TableBucket, committed: RemoteSnapshot, metadata: SnapshotMetadata
    ) -> list[RemoteSnapshot]:
        """Have a snapshot of state count from now on; those that the coordinator keeps then."""
        request = CommitKvSnapshotRequest(
            completed_snapshot=metadata.to_json(),
            coordinator_epoch=self._led.coordinator_epoch,
            bucket_leader_epoch=self._epoch(bucket),
        )
        await self._coordinator.ask(Api.COMMIT_KV_SNAPSHOT, request)
        kept = await self._ask_kept(bucket)
        kv_directory = committed.metadata_path.rsplit("/", 2)[0]
        return [await self._snapshot(kv_directory, one) for one in kept]

    def _epoch(self, bucket: TableBucket) -> int:
        epoch = self._led.epoch(bucket)
        if epoch is None:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{bucket} is not led from here any more.")
        return epoch

    async def learn(self, bucket: TableBucket, logs: RemoteLogs, snapshots: KvSnapshots, *, is_keyed: bool) -> None:
        """What was committed of a bucket that is about to be led."""
        asked = ListRemoteLogManifestsRequest(table_id=bucket.table_id, partition_id=bucket.partition_id)
        found = (await self._coordinator.ask(Api.LIST_REMOTE_LOG_MANIFESTS, asked)).manifests
        for one in found:
            if one.table_bucket.bucket_id == bucket.bucket:
                path = logs.path_of(one.remote_log_manifest_path)
                try:
                    await self._soon(logs.adopt(bucket, path))
                except (LakewardError, ValueError, TimeoutError) as wrong:
                    self._note_silence(wrong)
                    logs.expect(bucket, path, one.remote_log_end_offset)
        if is_keyed:
            kv_directory = logs.place(bucket).kv
            kept = [await self._find(kv_directory, one) for one in await self._ask_kept(bucket)]
            snapshots.learn(bucket, kept)

    async def _find(self, kv_directory: str, snapshot_id: int) -> RemoteSnapshot:
        """A snapshot; of one that cannot be read just now it is taken that it needs all of the log."""
        try:
            return await self._soon(self._snapshot(kv_directory, snapshot_id))
        except (LakewardError, TimeoutError) as wrong:
            self._note_silence(wrong)
            return RemoteSnapshot(snapshot_id, 0, _path(kv_directory, snapshot_id), is_rocksdb=False)

    async def _soon(self, answer: Coroutine[Any, Any, _T]) -> _T:
        """What the store answers; buckets are led also while it is silent."""
        async with asyncio.timeout(0 if self._loop.time() < self._silent_until else _PATIENCE_S):
            return await answer

    def _note_silence(self, wrong: Exception) -> None:
        if isinstance(wrong, TimeoutError) and self._loop.time() >= self._silent_until:
            self._silent_until = self._loop.time() + _SILENCE_S
            _log.warning("%s does not answer; buckets are led without knowing all that is there", self._store.url)

    async def _ask_kept(self, bucket: TableBucket) -> list[int]:
        asked = ListKvSnapshotsRequest(table_id=bucket.table_id, partition_id=bucket.partition_id)
        active = (await self._coordinator.ask(Api.LIST_KV_SNAPSHOTS, asked)).active_snapshots
        return [one.snapshot_id for one in active if one.bucket_id == bucket.bucket]

    async def _snapshot(self, kv_directory: str, snapshot_id: int) -> RemoteSnapshot:
        path = _path(kv_directory, snapshot_id)
        try:
            return _snapshot_of(SnapshotMetadata.of_json(await self._store.get(path)), path)
        except (NotFoundError, ValueError) as wrong:
            raise ErrorCode.KV_STORAGE.error(f"{self._store.url}/{path} cannot be read: {wrong}.") from wrong


def _path(kv_directory: str, snapshot_id: int) -> str:
    return f"{snapshot_directory(kv_directory, snapshot_id)}/{FILE_NAME}"


def _snapshot_of(metadata: SnapshotMetadata, path: str) -> RemoteSnapshot:
    """A snapshot as books have it."""
    is_rocksdb = any(file.name == "CURRENT" for file in metadata.files)
    return RemoteSnapshot(metadata.snapshot_id, metadata.log_offset, path, is_rocksdb)
