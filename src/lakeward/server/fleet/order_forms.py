"""What tablet servers are told, as messages."""

from __future__ import annotations

from collections.abc import Iterable

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.messages.metadata import PbPartitionMetadata, PbPhysicalTablePath, PbTableMetadata
from lakeward.protocol.messages.servers import orders as messages
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.snapshot import PbTableBucket
from lakeward.server.catalog.partition import PartitionInfo

#: What stands for a table that is gone, in place of its id; so it is for partitions.
GONE_ID = -2


def bucket_message(bucket: TableBucket) -> PbTableBucket:
    """A bucket."""
    return PbTableBucket(table_id=bucket.table_id, partition_id=bucket.partition_id, bucket_id=bucket.bucket)


def lead_order(
    table: TableInfo, partition: PartitionInfo | None, bucket: TableBucket, leader: int, epoch: int
) -> messages.PbNotifyLeaderAndIsrReqForBucket:
    """Who leads a bucket that has one replica."""
    return messages.PbNotifyLeaderAndIsrReqForBucket(
        physical_table_path=PbPhysicalTablePath(
            database_name=table.path.database,
            table_name=table.path.table,
            partition_name=None if partition is None else partition.name,
        ),
        table_bucket=bucket_message(bucket),
        leader=leader,
        leader_epoch=epoch,
        replicas=(leader,),
        isr=(leader,),
        bucket_epoch=epoch,
    )


def stop_order(epoch: int, leader_epoch: int, buckets: Iterable[TableBucket]) -> messages.StopReplicaRequest:
    """Buckets whose files go."""
    stopped = (
        messages.PbStopReplicaReqForBucket(
            table_bucket=bucket_message(bucket), leader_epoch=leader_epoch, delete=True, delete_remote=True
        )
        for bucket in buckets
    )
    return messages.StopReplicaRequest(coordinator_epoch=epoch, stop_replicas_req=tuple(stopped))


def gone_table(table: TableInfo) -> PbTableMetadata:
    """A table that is gone."""
    return PbTableMetadata(
        table_path=PbTablePath(database_name=table.path.database, table_name=table.path.table),
        table_id=GONE_ID,
        schema_id=table.schema_id,
        table_json=b"{}",
        created_time=table.created_ms,
        modified_time=table.modified_ms,
    )


def gone_partition(partition: PartitionInfo) -> PbPartitionMetadata:
    """A partition that is gone."""
    return PbPartitionMetadata(table_id=partition.table_id, partition_name=partition.name, partition_id=GONE_ID)


def lake_order(
    epoch: int, snapshot_id: int, offsets: Iterable[tuple[TableBucket, int]]
) -> messages.NotifyLakeTableOffsetRequest:
    """Up to where the lake has some buckets."""
    told = (
        messages.PbNotifyLakeTableOffsetReqForBucket(
            table_id=bucket.table_id,
            partition_id=bucket.partition_id,
            bucket_id=bucket.bucket,
            snapshot_id=snapshot_id,
            log_end_offset=offset,
        )
        for bucket, offset in offsets
    )
    return messages.NotifyLakeTableOffsetRequest(coordinator_epoch=epoch, notify_buckets_req=tuple(told))
