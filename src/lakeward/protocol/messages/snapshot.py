"""Snapshots of key/value state, leases on them, remote log manifests, file system tokens."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import PbKeyValue, PbTablePath


@message
class GetLatestKvSnapshotsRequest:
    """GET_LATEST_KV_SNAPSHOTS (1023), asked."""

    table_path: PbTablePath = f(1)
    partition_name: str | None = f(2, default=None)


@message
class PbKvSnapshot:
    bucket_id: i32 = f(1)
    snapshot_id: i64 | None = f(2, default=None)
    log_offset: i64 | None = f(3, default=None)


@message
class GetLatestKvSnapshotsResponse:
    """GET_LATEST_KV_SNAPSHOTS (1023), answered."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    latest_snapshots: tuple[PbKvSnapshot, ...] = f(3, default=())


@message
class GetKvSnapshotMetadataRequest:
    """GET_KV_SNAPSHOT_METADATA (1024), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    snapshot_id: i64 = f(4)


@message
class PbRemotePathAndLocalFile:
    remote_path: str = f(1)
    local_file_name: str = f(2)


@message
class GetKvSnapshotMetadataResponse:
    """GET_KV_SNAPSHOT_METADATA (1024), answered."""

    log_offset: i64 = f(1)
    snapshot_files: tuple[PbRemotePathAndLocalFile, ...] = f(2, default=())


@message
class PbKvSnapshotLeaseForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    snapshot_id: i64 = f(3)


@message
class PbKvSnapshotLeaseForTable:
    table_id: i64 = f(1)
    bucket_snapshots: tuple[PbKvSnapshotLeaseForBucket, ...] = f(2, default=())


@message
class AcquireKvSnapshotLeaseRequest:
    """ACQUIRE_KV_SNAPSHOT_LEASE (1056), asked."""

    lease_id: str = f(1)
    lease_duration_ms: i64 = f(2)
    snapshots_to_lease: tuple[PbKvSnapshotLeaseForTable, ...] = f(3, default=())


@message
class AcquireKvSnapshotLeaseResponse:
    """ACQUIRE_KV_SNAPSHOT_LEASE (1056), answered."""

    unavailable_snapshots: tuple[PbKvSnapshotLeaseForTable, ...] = f(1, default=())


@message
class PbTableBucket:
    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)


@message
class ReleaseKvSnapshotLeaseRequest:
    """RELEASE_KV_SNAPSHOT_LEASE (1057), asked."""

    lease_id: str = f(1)
    buckets_to_release: tuple[PbTableBucket, ...] = f(2, default=())


@message
class ReleaseKvSnapshotLeaseResponse:
    """RELEASE_KV_SNAPSHOT_LEASE (1057), answered."""


@message
class DropKvSnapshotLeaseRequest:
    """DROP_KV_SNAPSHOT_LEASE (1058), asked."""

    lease_id: str = f(1)


@message
class DropKvSnapshotLeaseResponse:
    """DROP_KV_SNAPSHOT_LEASE (1058), answered."""


@message
class GetFileSystemSecurityTokenRequest:
    """GET_FILESYSTEM_SECURITY_TOKEN (1025), asked."""


@message
class GetFileSystemSecurityTokenResponse:
    """GET_FILESYSTEM_SECURITY_TOKEN (1025), answered."""

    schema: str = f(1)
    token: bytes = f(2)
    expiration_time: i64 | None = f(3, default=None)
    addition_info: tuple[PbKeyValue, ...] = f(4, default=())


@message
class ListRemoteLogManifestsRequest:
    """LIST_REMOTE_LOG_MANIFESTS (1063), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)


@message
class PbRemoteLogManifestEntry:
    table_bucket: PbTableBucket = f(1)
    remote_log_manifest_path: str = f(2)
    remote_log_end_offset: i64 = f(3)


@message
class ListRemoteLogManifestsResponse:
    """LIST_REMOTE_LOG_MANIFESTS (1063), answered."""

    manifests: tuple[PbRemoteLogManifestEntry, ...] = f(1, default=())


@message
class ListKvSnapshotsRequest:
    """LIST_KV_SNAPSHOTS (1064), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)


@message
class ListKvSnapshotsResponse:
    """LIST_KV_SNAPSHOTS (1064), answered."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    active_snapshots: tuple[PbKvSnapshot, ...] = f(3, default=())
