"""Tiering: heartbeats, lake snapshots."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import ErrorResponse, PbBucketOffset, PbTablePath


@message
class GetLakeSnapshotRequest:
    """GET_LAKE_SNAPSHOT (1032), asked."""

    table_path: PbTablePath = f(1)
    snapshot_id: i64 | None = f(2, default=None)
    readable: bool | None = f(3, default=None)


@message
class PbLakeSnapshotForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    log_offset: i64 | None = f(3, default=None)
    partition_name: str | None = f(4, default=None)


@message
class GetLakeSnapshotResponse:
    """GET_LAKE_SNAPSHOT (1032), answered."""

    table_id: i64 = f(1)
    snapshot_id: i64 = f(2)
    bucket_snapshots: tuple[PbLakeSnapshotForBucket, ...] = f(3, default=())


@message
class PbTableOffsets:
    table_id: i64 = f(1)
    table_path: PbTablePath = f(2)
    bucket_offsets: tuple[PbBucketOffset, ...] = f(3, default=())


@message
class PrepareLakeTableSnapshotRequest:
    """PREPARE_LAKE_TABLE_SNAPSHOT (1052), asked."""

    bucket_offsets: tuple[PbTableOffsets, ...] = f(1, default=())
    ignore_previous_table_offsets: bool | None = f(2, default=None)


@message
class PbPrepareLakeTableRespForTable:
    error_code: i32 | None = f(1, default=None)
    error_message: str | None = f(2, default=None)
    table_id: i64 | None = f(3, default=None)
    lake_table_offsets_path: str | None = f(4, default=None)


@message
class PrepareLakeTableSnapshotResponse:
    """PREPARE_LAKE_TABLE_SNAPSHOT (1052), answered."""

    prepare_lake_table_resp: tuple[PbPrepareLakeTableRespForTable, ...] = f(1, default=())


@message
class PbLakeTableOffsetForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    log_end_offset: i64 | None = f(4, default=None)
    max_timestamp: i64 | None = f(6, default=None)


@message
class PbLakeTableSnapshotInfo:
    table_id: i64 | None = f(1, default=None)
    snapshot_id: i64 = f(2)
    buckets_req: tuple[PbLakeTableOffsetForBucket, ...] = f(3, default=())
    table_path: PbTablePath | None = f(4, default=None)


@message
class PbLakeTableSnapshotMetadata:
    table_id: i64 = f(1)
    snapshot_id: i64 = f(2)
    tiered_bucket_offsets_file_path: str = f(3)
    readable_bucket_offsets_file_path: str | None = f(4, default=None)
    earliest_snapshot_id_to_keep: i64 | None = f(5, default=None)


@message
class CommitLakeTableSnapshotRequest:
    """COMMIT_LAKE_TABLE_SNAPSHOT (1030), asked."""

    tables_req: tuple[PbLakeTableSnapshotInfo, ...] = f(1, default=())
    lake_table_snapshot_metadata: tuple[PbLakeTableSnapshotMetadata, ...] = f(2, default=())


@message
class PbCommitLakeTableSnapshotRespForTable:
    error_code: i32 | None = f(1, default=None)
    error_message: str | None = f(2, default=None)
    table_id: i64 = f(3)


@message
class CommitLakeTableSnapshotResponse:
    """COMMIT_LAKE_TABLE_SNAPSHOT (1030), answered."""

    table_resp: tuple[PbCommitLakeTableSnapshotRespForTable, ...] = f(1, default=())


@message
class PbLakeTieringStats:
    file_size: i64 | None = f(1, default=None)
    record_count: i64 | None = f(2, default=None)


@message
class PbHeartbeatReqForTable:
    table_id: i64 = f(1)
    coordinator_epoch: i32 = f(2)
    tiering_epoch: i64 = f(3)
    lake_tiering_stats: PbLakeTieringStats | None = f(4, default=None)


@message
class LakeTieringHeartbeatRequest:
    """LAKE_TIERING_HEARTBEAT (1042), asked."""

    tiering_tables: tuple[PbHeartbeatReqForTable, ...] = f(1, default=())
    finished_tables: tuple[PbHeartbeatReqForTable, ...] = f(2, default=())
    failed_tables: tuple[PbHeartbeatReqForTable, ...] = f(3, default=())
    request_table: bool | None = f(4, default=None)
    force_finished_tables: tuple[i64, ...] = f(5, default=())


@message
class PbLakeTieringTableInfo:
    table_id: i64 = f(1)
    table_path: PbTablePath = f(2)
    tiering_epoch: i64 = f(3)


@message
class PbHeartbeatRespForTable:
    table_id: i64 = f(1)
    error: ErrorResponse | None = f(2, default=None)


@message
class LakeTieringHeartbeatResponse:
    """LAKE_TIERING_HEARTBEAT (1042), answered."""

    coordinator_epoch: i32 = f(1)
    tiering_table: PbLakeTieringTableInfo | None = f(2, default=None)
    tiering_table_resp: tuple[PbHeartbeatRespForTable, ...] = f(3, default=())
    finished_table_resp: tuple[PbHeartbeatRespForTable, ...] = f(4, default=())
    failed_table_resp: tuple[PbHeartbeatRespForTable, ...] = f(5, default=())
