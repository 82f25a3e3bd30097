"""What tablet servers tell their coordinator: who is in sync, what is in remote storage, that they go."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.snapshot import PbTableBucket


@message
class PbAdjustIsrReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    leader_epoch: i32 = f(3)
    new_isr: tuple[i32, ...] = f(4, default=(), packed=True)
    coordinator_epoch: i32 = f(5)
    bucket_epoch: i32 = f(6)
    standby_replicas: tuple[i32, ...] = f(7, default=(), packed=True)


@message
class PbAdjustIsrReqForTable:
    table_id: i64 = f(1)
    buckets_req: tuple[PbAdjustIsrReqForBucket, ...] = f(2, default=())


@message
class AdjustIsrRequest:
    """ADJUST_ISR (1020), asked."""

    server_id: i32 = f(1)
    tables_req: tuple[PbAdjustIsrReqForTable, ...] = f(2, default=())


@message
class PbAdjustIsrRespForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    error_code: i32 | None = f(3, default=None)
    error_message: str | None = f(4, default=None)
    leader_id: i32 | None = f(5, default=None)
    leader_epoch: i32 | None = f(6, default=None)
    isr: tuple[i32, ...] = f(7, default=(), packed=True)
    bucket_epoch: i32 | None = f(8, default=None)
    coordinator_epoch: i32 | None = f(9, default=None)
    standby_replicas: tuple[i32, ...] = f(10, default=(), packed=True)


@message
class PbAdjustIsrRespForTable:
    table_id: i64 = f(1)
    buckets_resp: tuple[PbAdjustIsrRespForBucket, ...] = f(2, default=())


@message
class AdjustIsrResponse:
    """ADJUST_ISR (1020), answered."""

    tables_resp: tuple[PbAdjustIsrRespForTable, ...] = f(1, default=())


@message
class CommitKvSnapshotRequest:
    """COMMIT_KV_SNAPSHOT (1022), asked."""

    completed_snapshot: bytes = f(1)
    coordinator_epoch: i32 = f(2)
    bucket_leader_epoch: i32 = f(3)


@message
class CommitKvSnapshotResponse:
    """COMMIT_KV_SNAPSHOT (1022), answered."""


@message
class CommitRemoteLogManifestRequest:
    """COMMIT_REMOTE_LOG_MANIFEST (1027), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    remote_log_manifest_path: str = f(4)
    remote_log_start_offset: i64 = f(5)
    remote_log_end_offset: i64 = f(6)
    coordinator_epoch: i32 = f(7)
    bucket_leader_epoch: i32 = f(8)
    highest_copied_end_offset: i64 | None = f(9, default=None)


@message
class CommitRemoteLogManifestResponse:
    """COMMIT_REMOTE_LOG_MANIFEST (1027), answered."""

    commit_success: bool = f(1)


@message
class ControlledShutdownRequest:
    """CONTROLLED_SHUTDOWN (1043), asked."""

    tablet_server_id: i32 = f(1)
    tablet_server_epoch: i32 = f(2)


@message
class ControlledShutdownResponse:
    """CONTROLLED_SHUTDOWN (1043), answered."""

    remaining_leader_buckets: tuple[PbTableBucket, ...] = f(1, default=())
