"""Handlers for snapshots of key/value state and leases on them."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages import snapshot as messages
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers, path_of


class KvSnapshotHandlers:
    """What is in remote storage of the state of tables, and who holds on to it."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._catalog = coordinator.catalog
        self._tables = coordinator.tables
        self._clock = coordinator.clock
        self._snapshots = coordinator.kv_snapshots
        self._leases = coordinator.snapshot_leases

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.GET_LATEST_KV_SNAPSHOTS: self.latest,
            Api.GET_KV_SNAPSHOT_METADATA: self.metadata,
            Api.LIST_KV_SNAPSHOTS: self.list_all,
            Api.ACQUIRE_KV_SNAPSHOT_LEASE: self.acquire_lease,
            Api.RELEASE_KV_SNAPSHOT_LEASE: self.release_lease,
            Api.DROP_KV_SNAPSHOT_LEASE: self.drop_lease,
        }

    def latest(self, request: messages.GetLatestKvSnapshotsRequest, _: Caller) -> messages.GetLatestKvSnapshotsResponse:
        """GET_LATEST_KV_SNAPSHOTS: one entry per bucket; one without a snapshot is read from the log.

        Who asks will open the files with RocksDB, so snapshots of another engine are not told of.
        """
        table = self._tables.get(path_of(request.table_path))
        _check_keyed(table)
        partition = self._named_partition(table, request.partition_name)
        partition_id = None if partition is None else partition.partition_id
        return messages.GetLatestKvSnapshotsResponse(
            table_id=table.table_id,
            partition_id=partition_id,
            latest_snapshots=tuple(
                self._latest_of(TableBucket(table.table_id, partition_id, bucket))
                for bucket in range(table.bucket_count)
            ),
        )

    def _latest_of(self, bucket: TableBucket) -> messages.PbKvSnapshot:
        for snapshot in reversed(self._snapshots.of(bucket)):
            if snapshot.is_rocksdb:
                return messages.PbKvSnapshot(
                    bucket_id=bucket.bucket, snapshot_id=snapshot.snapshot_id, log_offset=snapshot.log_offset
                )
        return messages.PbKvSnapshot(bucket_id=bucket.bucket)

    def metadata(
        self, request: messages.GetKvSnapshotMetadataRequest, _: Caller
    ) -> messages.GetKvSnapshotMetadataResponse:
        """GET_KV_SNAPSHOT_METADATA where there is no remote storage; where there is, server.remote answers."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        raise ErrorCode.KV_SNAPSHOT_NOT_EXIST.error(f"{bucket} has no snapshot {request.snapshot_id}.")

    def list_all(self, request: messages.ListKvSnapshotsRequest, _: Caller) -> messages.ListKvSnapshotsResponse:
        """LIST_KV_SNAPSHOTS: all that are retained or leased, of whatever engine."""
        table = self._catalog.table_by_id(request.table_id)
        if table is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no table with id {request.table_id}.")
        if request.partition_id is not None:
            partition = self._catalog.partition_by_id(request.partition_id)
            if partition is None or partition.table_id != table.table_id:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(
                    f"Table {table.path} has no partition with id {request.partition_id}."
                )
        buckets = (TableBucket(table.table_id, request.partition_id, bucket) for bucket in range(table.bucket_count))
        return messages.ListKvSnapshotsResponse(
            table_id=request.table_id,
            partition_id=request.partition_id,
            active_snapshots=tuple(
                messages.PbKvSnapshot(bucket_id=bucket.bucket, snapshot_id=one.snapshot_id)
                for bucket in buckets
                for one in self._snapshots.of(bucket)
            ),
        )

    # -- leases

    def acquire_lease(
        self, request: messages.AcquireKvSnapshotLeaseRequest, _: Caller
    ) -> messages.AcquireKvSnapshotLeaseResponse:
        """ACQUIRE_KV_SNAPSHOT_LEASE: pin what is there, say what is not."""
        pinned: dict[TableBucket, int] = {}
        missing: list[messages.PbKvSnapshotLeaseForTable] = []
        for asked in request.snapshots_to_lease:
            table = self._catalog.table_by_id(asked.table_id)
            if table is None:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"There is no table with id {asked.table_id}.")
            _check_keyed(table)
            absent: list[messages.PbKvSnapshotLeaseForBucket] = []
            for one in asked.bucket_snapshots:
                bucket = TableBucket(asked.table_id, one.partition_id, one.bucket_id)
                if self._snapshots.find(bucket, one.snapshot_id) is None:
                    absent.append(one)
                else:
                    pinned[bucket] = one.snapshot_id
            if absent:
                missing.append(
                    messages.PbKvSnapshotLeaseForTable(table_id=asked.table_id, bucket_snapshots=tuple(absent))
                )
        self._leases.acquire(request.lease_id, self._clock.now_ms() + request.lease_duration_ms, pinned)
        return messages.AcquireKvSnapshotLeaseResponse(unavailable_snapshots=tuple(missing))

    def release_lease(
        self, request: messages.ReleaseKvSnapshotLeaseRequest, _: Caller
    ) -> messages.ReleaseKvSnapshotLeaseResponse:
        """RELEASE_KV_SNAPSHOT_LEASE: an unknown lease is fine, and so is a table that has gone."""
        for table in filter(None, (self._catalog.table_by_id(one.table_id) for one in request.buckets_to_release)):
            _check_keyed(table)
        buckets = [TableBucket(one.table_id, one.partition_id, one.bucket_id) for one in request.buckets_to_release]
        self._leases.release(request.lease_id, buckets)
        return messages.ReleaseKvSnapshotLeaseResponse()

    def drop_lease(
        self, request: messages.DropKvSnapshotLeaseRequest, _: Caller
    ) -> messages.DropKvSnapshotLeaseResponse:
        """DROP_KV_SNAPSHOT_LEASE: an unknown lease is fine."""
        self._leases.drop(request.lease_id)
        return messages.DropKvSnapshotLeaseResponse()

    def _named_partition(self, table: TableInfo, name: str | None) -> PartitionInfo | None:
        if not table.descriptor.is_partitioned:
            if name is not None:
                raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"Table {table.path} is not partitioned.")
            return None
        partition = None if name is None else self._catalog.partition_by_name(table.table_id, name)
        if partition is None:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"Table {table.path} has no partition '{(name or '')[:200]}'.")
        return partition


def _check_keyed(table: TableInfo) -> None:
    if not table.descriptor.has_primary_key:
        raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(f"Table {table.path} is not a primary key table.")
