"""RemoteBooks: what is in remote storage of the buckets of this server, kept by a coordinator elsewhere.

COMMIT_REMOTE_LOG_MANIFEST, COMMIT_KV_SNAPSHOT; and before a bucket is led, what was committed of it. Whether a commit
that was refused counts all the same is looked up: until that is certain, nothing of it is removed.
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
from lakeward.remote.formats.snapshot_metadata import FILE_NAME, SnapshotMetadata, snapshot_directory
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.archive.remote_logs import RemoteLogs, RemotePointer
from lakeward.server.books.kv_snapshots import KvSnapshots, RemoteSnapshot
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.member.committed import Committed, CommittedSnapshot
from lakeward.server.member.coordinator import CoordinatorLink

_log = logging.getLogger(__name__)
_NOTHING = -1
_PATIENCE_S, _SILENCE_S = 2.0, 30.0
#: A commit that was sent and not answered may count later.
_UNANSWERED = {ErrorCode.NETWORK, ErrorCode.REQUEST_TIME_OUT}
_T = TypeVar("_T")


class RemoteBooks:
    """Tells and asks the coordinator."""

    def __init__(self, coordinator: CoordinatorLink, committed: Committed, store: RemoteStore, led: Leadership) -> None:
        self._coordinator = coordinator
        self._committed = committed
        self._store = store
        self._led = led
        self._loop = asyncio.get_running_loop()
        self._silent_until = 0.0

    @property
    def removes(self) -> bool:
        """Whether snapshots that do not count any more are removed by whoever decides that."""
        return self._committed.removes

    async def tell_pointer(self, bucket: TableBucket, pointer: RemotePointer) -> None:
        """Have a manifest count from now on."""
        start = pointer.remote_log_start_offset
        path = f"{self._store.url}/{pointer.remote_log_manifest_path}"
        request = CommitRemoteLogManifestRequest(
            table_id=bucket.table_id,
            partition_id=bucket.partition_id,
            bucket_id=bucket.bucket,
            remote_log_manifest_path=path,
            remote_log_start_offset=_NOTHING if start is None else start,
            remote_log_end_offset=pointer.remote_log_end_offset,
            coordinator_epoch=self._led.coordinator_epoch,
            bucket_leader_epoch=self._epoch(bucket),
        )
        answer = await self._coordinator.ask(Api.COMMIT_REMOTE_LOG_MANIFEST, request)
        if answer.commit_success:
            return
        counts = await self._committed.manifest(bucket)
        if counts is None or counts.path != path:
            raise ErrorCode.LOG_STORAGE.error(f"The coordinator did not take the manifest of {bucket}.")

    async def next_snapshot_id(self, bucket: TableBucket) -> int | None:
        """A number for a snapshot; None where the leader counts by itself."""
        return await self._committed.next_snapshot_id(bucket)

    async def tell_snapshot(
        self, bucket: TableBucket, committed: RemoteSnapshot, metadata: SnapshotMetadata
    ) -> list[RemoteSnapshot]:
        """Have a snapshot of state count from now on; those that the coordinator keeps then."""
        request = CommitKvSnapshotRequest(
            completed_snapshot=metadata.to_json(),
            coordinator_epoch=self._led.coordinator_epoch,
            bucket_leader_epoch=self._epoch(bucket),
        )
        kv_directory = committed.metadata_path.rsplit("/", 2)[0]
        try:
            await self._coordinator.ask(Api.COMMIT_KV_SNAPSHOT, request)
        except LakewardError as wrong:
            if wrong.code in _UNANSWERED:
                raise
            kept = await self._committed.snapshots(bucket)
            if committed.snapshot_id not in {one.snapshot_id for one in kept}:
                raise
        kept = await self._committed.snapshots(bucket)
        return [await self._snapshot(kv_directory, one) for one in kept]

    def _epoch(self, bucket: TableBucket) -> int:
        epoch = self._led.epoch(bucket)
        if epoch is None:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{bucket} is not led from here any more.")
        return epoch

    # -- before a bucket is led

    async def learn_snapshots(self, bucket: TableBucket, logs: RemoteLogs, snapshots: KvSnapshots) -> None:
        """Which snapshots of its state count."""
        kv_directory = logs.place(bucket).kv
        kept = [await self._find(kv_directory, one) for one in await self._committed.snapshots(bucket)]
        snapshots.learn(bucket, kept)

    async def learn_log(self, bucket: TableBucket, logs: RemoteLogs) -> None:
        """Which manifest counts."""
        found = await self._committed.manifest(bucket)
        if found is None:
            logs.forget([bucket])
            return
        path = logs.path_of(bucket, found.path)
        try:
            await self._soon(logs.adopt(bucket, path))
        except (LakewardError, ValueError, TimeoutError) as wrong:
            self._note_silence(wrong)
            logs.expect(bucket, path, found.end_offset)

    async def _find(self, kv_directory: str, one: CommittedSnapshot) -> RemoteSnapshot:
        """A snapshot; of one that cannot be read just now it is taken that it needs all of the log."""
        try:
            return await self._soon(self._snapshot(kv_directory, one))
        except (LakewardError, TimeoutError) as wrong:
            self._note_silence(wrong)
            return RemoteSnapshot(one.snapshot_id, 0, _path(kv_directory, one.snapshot_id), is_rocksdb=False)

    async def _soon(self, answer: Coroutine[Any, Any, _T]) -> _T:
        """What the store answers; buckets are led also while it is silent."""
        async with asyncio.timeout(0 if self._loop.time() < self._silent_until else _PATIENCE_S):
            return await answer

    def _note_silence(self, wrong: Exception) -> None:
        if isinstance(wrong, TimeoutError) and self._loop.time() >= self._silent_until:
            self._silent_until = self._loop.time() + _SILENCE_S
            _log.warning("%s does not answer; buckets are led without knowing all that is there", self._store.url)

    async def _snapshot(self, kv_directory: str, one: CommittedSnapshot) -> RemoteSnapshot:
        path = _path(kv_directory, one.snapshot_id)
        if one.log_offset is not None:
            return RemoteSnapshot(one.snapshot_id, one.log_offset, path, is_rocksdb=True)
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
