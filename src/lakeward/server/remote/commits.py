"""RemoteCommits: what tablet servers have brought to remote storage counts from the coordinator's commit on.

COMMIT_REMOTE_LOG_MANIFEST, COMMIT_KV_SNAPSHOT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.options import server as rows
from lakeward.protocol.api import Api
from lakeward.protocol.messages.servers import reports as messages
from lakeward.remote.formats.snapshot_metadata import FILE_NAME, SnapshotMetadata, snapshot_directory
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.books.kv_snapshots import RemoteSnapshot
from lakeward.server.remote.this_server import ThisServer

_MANIFEST_OF_ROCKSDB = "CURRENT"


class RemoteCommits:
    """The coordinator's side."""

    def __init__(self, server: ThisServer, logs: RemoteLogs, epoch_of: Callable[[TableBucket], int]) -> None:
        """`epoch_of` tells in which epoch a bucket is led: a server of an older one is refused."""
        self._server = server
        self._logs = logs
        self._epoch_of = epoch_of

    def handlers(self) -> dict[Api, Handler]:
        """The functions by API."""
        return {Api.COMMIT_REMOTE_LOG_MANIFEST: self.manifest, Api.COMMIT_KV_SNAPSHOT: self.snapshot}

    def manifest(self, request: messages.CommitRemoteLogManifestRequest, exchange: Exchange) -> None:
        """COMMIT_REMOTE_LOG_MANIFEST."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        self._check(bucket, request.bucket_leader_epoch)
        path = self._logs.path_of(bucket, request.remote_log_manifest_path)
        self._server.answer_later(exchange, self._adopt(bucket, path))

    async def _adopt(self, bucket: TableBucket, path: str) -> messages.CommitRemoteLogManifestResponse:
        try:
            await self._logs.adopt(bucket, path)
        except (NotFoundError, ValueError) as wrong:
            raise ErrorCode.LOG_STORAGE.error(f"The manifest {path} of {bucket} cannot be read: {wrong}.") from wrong
        return messages.CommitRemoteLogManifestResponse(commit_success=True)

    def snapshot(self, request: messages.CommitKvSnapshotRequest, _: Exchange) -> Any:
        """COMMIT_KV_SNAPSHOT."""
        try:
            metadata = SnapshotMetadata.of_json(bytes(request.completed_snapshot))
        except ValueError as wrong:
            raise ErrorCode.KV_STORAGE.error(f"A snapshot was committed that cannot be read: {wrong}.") from wrong
        bucket = metadata.bucket
        self._check(bucket, request.bucket_leader_epoch)
        path = f"{snapshot_directory(self._logs.place(bucket).kv, metadata.snapshot_id)}/{FILE_NAME}"
        is_rocksdb = any(file.name == _MANIFEST_OF_ROCKSDB for file in metadata.files)
        committed = RemoteSnapshot(metadata.snapshot_id, metadata.log_offset, path, is_rocksdb)
        keep = self._server.options_now().get(rows.KV_SNAPSHOTS_RETAINED)
        self._server.kv_snapshots.commit(bucket, committed, keep)  # whoever wrote the others removes them
        return messages.CommitKvSnapshotResponse()

    def _check(self, bucket: TableBucket, epoch: int) -> None:
        if not self._server.catalog.bucket_exists(bucket):
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown table or bucket: {bucket}.")
        if epoch < self._epoch_of(bucket):
            raise ErrorCode.FENCED_LEADER_EPOCH.error(f"{bucket} is led in a newer epoch than {epoch}.")
