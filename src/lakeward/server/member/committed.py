"""Committed: what counts of the remote storage of a bucket, as a coordinator elsewhere has it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.snapshot import ListKvSnapshotsRequest, ListRemoteLogManifestsRequest
from lakeward.server.member.coordinator import CoordinatorLink


class CommittedManifest(NamedTuple):
    """Which manifest counts, as it was committed, and up to where the log was copied."""

    path: str
    end_offset: int


class CommittedSnapshot(NamedTuple):
    """A snapshot of state that counts; where it is not told, its offset is in its metadata."""

    snapshot_id: int
    log_offset: int | None = None


class Committed(Protocol):
    """Whom to ask."""

    #: Whether whoever decides removes what does not count any more.
    removes: bool

    async def manifest(self, bucket: TableBucket) -> CommittedManifest | None:
        """The manifest of a bucket's log; None when nothing of it was copied yet."""
        ...

    async def snapshots(self, bucket: TableBucket) -> list[CommittedSnapshot]:
        """The snapshots of a bucket's state."""
        ...

    async def next_snapshot_id(self, bucket: TableBucket) -> int | None:
        """A number for a snapshot that no other one gets; None where the leader counts by itself."""
        ...


class AskedCommits:
    """A coordinator of ours is asked by messages."""

    removes = False

    def __init__(self, coordinator: CoordinatorLink) -> None:
        self._coordinator = coordinator

    async def manifest(self, bucket: TableBucket) -> CommittedManifest | None:
        """The manifest of a bucket's log; None when nothing of it was copied yet."""
        asked = ListRemoteLogManifestsRequest(table_id=bucket.table_id, partition_id=bucket.partition_id)
        for one in (await self._coordinator.ask(Api.LIST_REMOTE_LOG_MANIFESTS, asked)).manifests:
            if one.table_bucket.bucket_id == bucket.bucket:
                return CommittedManifest(one.remote_log_manifest_path, one.remote_log_end_offset)
        return None

    async def snapshots(self, bucket: TableBucket) -> list[CommittedSnapshot]:
        """The snapshots of a bucket's state."""
        asked = ListKvSnapshotsRequest(table_id=bucket.table_id, partition_id=bucket.partition_id)
        active = (await self._coordinator.ask(Api.LIST_KV_SNAPSHOTS, asked)).active_snapshots
        return [CommittedSnapshot(one.snapshot_id) for one in active if one.bucket_id == bucket.bucket]

    async def next_snapshot_id(self, bucket: TableBucket) -> int | None:  # noqa: ARG002 - whoever asks counts by itself
        """The leader counts by itself: nobody else has had the bucket before."""
        return None
