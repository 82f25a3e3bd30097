"""What a coordinator tells its tablet servers: what exists, who leads what, what may go."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.metadata import PbPartitionMetadata, PbPhysicalTablePath, PbServerNode, PbTableMetadata
from lakeward.protocol.messages.snapshot import PbTableBucket


@message
class UpdateMetadataRequest:
    """UPDATE_METADATA (1013), asked."""

    coordinator_server: PbServerNode | None = f(1, default=None)
    tablet_servers: tuple[PbServerNode, ...] = f(2, default=())
    table_metadata: tuple[PbTableMetadata, ...] = f(3, default=())
    partition_metadata: tuple[PbPartitionMetadata, ...] = f(4, default=())
    coordinator_epoch: i32 | None = f(5, default=None)


@message
class UpdateMetadataResponse:
    """UPDATE_METADATA (1013), answered."""


@message
class PbNotifyLeaderAndIsrReqForBucket:
    physical_table_path: PbPhysicalTablePath = f(1)
    table_bucket: PbTableBucket = f(2)
    leader: i32 = f(3)
    leader_epoch: i32 = f(4)
    replicas: tuple[i32, ...] = f(5, default=(), packed=True)
    isr: tuple[i32, ...] = f(6, default=(), packed=True)
    bucket_epoch: i32 = f(7)
    standby_replicas: tuple[i32, ...] = f(8, default=(), packed=True)


@message
class NotifyLeaderAndIsrRequest:
    """NOTIFY_LEADER_AND_ISR (1018), asked."""

    coordinator_epoch: i32 = f(1)
    notify_buckets_leader_req: tuple[PbNotifyLeaderAndIsrReqForBucket, ...] = f(2, default=())


@message
class PbNotifyLeaderAndIsrRespForBucket:
    table_bucket: PbTableBucket = f(1)
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)


@message
class NotifyLeaderAndIsrResponse:
    """NOTIFY_LEADER_AND_ISR (1018), answered."""

    notify_buckets_leader_resp: tuple[PbNotifyLeaderAndIsrRespForBucket, ...] = f(1, default=())


@message
class PbStopReplicaReqForBucket:
    table_bucket: PbTableBucket = f(1)
    leader_epoch: i32 = f(2)
    delete: bool = f(3)
    delete_remote: bool | None = f(4, default=None)


@message
class StopReplicaRequest:
    """STOP_REPLICA (1019), asked."""

    coordinator_epoch: i32 = f(1)
    stop_replicas_req: tuple[PbStopReplicaReqForBucket, ...] = f(2, default=())


@message
class PbStopReplicaRespForBucket:
    table_bucket: PbTableBucket = f(1)
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)


@message
class StopReplicaResponse:
    """STOP_REPLICA (1019), answered."""

    stop_replicas_resp: tuple[PbStopReplicaRespForBucket, ...] = f(1, default=())


@message
class NotifyRemoteLogOffsetsRequest:
    """NOTIFY_REMOTE_LOG_OFFSETS (1028), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    coordinator_epoch: i32 = f(4)
    remote_start_offset: i64 = f(5)
    remote_end_offset: i64 = f(6)
    highest_copied_end_offset: i64 | None = f(7, default=None)


@message
class NotifyRemoteLogOffsetsResponse:
    """NOTIFY_REMOTE_LOG_OFFSETS (1028), answered."""


@message
class NotifyKvSnapshotOffsetRequest:
    """NOTIFY_KV_SNAPSHOT_OFFSET (1029), asked."""

    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    coordinator_epoch: i32 = f(4)
    min_retain_offset: i64 = f(5)


@message
class NotifyKvSnapshotOffsetResponse:
    """NOTIFY_KV_SNAPSHOT_OFFSET (1029), answered."""


@message
class PbNotifyLakeTableOffsetReqForBucket:
    table_id: i64 = f(1)
    partition_id: i64 | None = f(2, default=None)
    bucket_id: i32 = f(3)
    snapshot_id: i64 = f(4)
    log_start_offset: i64 | None = f(5, default=None)
    log_end_offset: i64 | None = f(6, default=None)
    max_timestamp: i64 | None = f(7, default=None)


@message
class NotifyLakeTableOffsetRequest:
    """NOTIFY_LAKE_TABLE_OFFSET (1031), asked."""

    coordinator_epoch: i32 = f(1)
    notify_buckets_req: tuple[PbNotifyLakeTableOffsetReqForBucket, ...] = f(2, default=())


@message
class NotifyLakeTableOffsetResponse:
    """NOTIFY_LAKE_TABLE_OFFSET (1031), answered."""
