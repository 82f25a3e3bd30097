"""Handlers for snapshots, leases and remote log: today there are none to be told of."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages import snapshot as messages
from lakeward.server.caller import Caller
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handler import Handlers, path_of
from lakeward.server.coordinator.partition import PartitionInfo


class SnapshotHandlers:
    """What was copied elsewhere, which is nothing yet."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._catalog = coordinator.catalog
        self._tables = coordinator.tables

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.GET_LATEST_KV_SNAPSHOTS: self.latest_kv_snapshots,
            Api.GET_KV_SNAPSHOT_METADATA: self.kv_snapshot_metadata,
            Api.LIST_KV_SNAPSHOTS: self.list_kv_snapshots,
            Api.ACQUIRE_KV_SNAPSHOT_LEASE: self.acquire_lease,
            Api.RELEASE_KV_SNAPSHOT_LEASE: self.release_lease,
            Api.DROP_KV_SNAPSHOT_LEASE: self.drop_lease,
            Api.LIST_REMOTE_LOG_MANIFESTS: self.list_remote_log_manifests,
            Api.GET_FILESYSTEM_SECURITY_TOKEN: self.security_token,
        }

    def latest_kv_snapshots(
        self, request: messages.GetLatestKvSnapshotsRequest, _: Caller
    ) -> messages.GetLatestKvSnapshotsResponse:
        """GET_LATEST_KV_SNAPSHOTS: one entry per bucket without a snapshot, so readers start from the log."""
        table = self._tables.get(path_of(request.table_path))
        if not table.descriptor.has_primary_key:
            raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(f"Table {table.path} has no primary key, hence no snapshots.")
        partition = self._named_partition(table, request.partition_name)
        return messages.GetLatestKvSnapshotsResponse(
            table_id=table.table_id,
            partition_id=None if partition is None else partition.partition_id,
            latest_snapshots=tuple(messages.PbKvSnapshot(bucket_id=b) for b in range(table.bucket_count)),
        )

    def kv_snapshot_metadata(
        self, request: messages.GetKvSnapshotMetadataRequest, _: Caller
    ) -> messages.GetKvSnapshotMetadataResponse:
        """GET_KV_SNAPSHOT_METADATA."""
        raise ErrorCode.KV_SNAPSHOT_NOT_EXIST.error(
            f"Bucket {request.bucket_id} of table {request.table_id} has no snapshot {request.snapshot_id}."
        )

    def list_kv_snapshots(
        self, request: messages.ListKvSnapshotsRequest, _: Caller
    ) -> messages.ListKvSnapshotsResponse:
        """LIST_KV_SNAPSHOTS."""
        self._check_by_id(request.table_id, request.partition_id)
        return messages.ListKvSnapshotsResponse(table_id=request.table_id, partition_id=request.partition_id)

    def acquire_lease(
        self, request: messages.AcquireKvSnapshotLeaseRequest, _: Caller
    ) -> messages.AcquireKvSnapshotLeaseResponse:
        """ACQUIRE_KV_SNAPSHOT_LEASE: whatever is asked for is not there."""
        for asked in request.snapshots_to_lease:
            table = self._catalog.table_by_id(asked.table_id)
            if table is None:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"There is no table with id {asked.table_id}.")
            if not table.descriptor.has_primary_key:
                raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(f"Table {table.path} has no primary key.")
        return messages.AcquireKvSnapshotLeaseResponse(unavailable_snapshots=request.snapshots_to_lease)

    def release_lease(
        self, _: messages.ReleaseKvSnapshotLeaseRequest, __: Caller
    ) -> messages.ReleaseKvSnapshotLeaseResponse:
        """RELEASE_KV_SNAPSHOT_LEASE: an unknown lease is fine."""
        return messages.ReleaseKvSnapshotLeaseResponse()

    def drop_lease(self, _: messages.DropKvSnapshotLeaseRequest, __: Caller) -> messages.DropKvSnapshotLeaseResponse:
        """DROP_KV_SNAPSHOT_LEASE: an unknown lease is fine."""
        return messages.DropKvSnapshotLeaseResponse()

    def list_remote_log_manifests(
        self, request: messages.ListRemoteLogManifestsRequest, _: Caller
    ) -> messages.ListRemoteLogManifestsResponse:
        """LIST_REMOTE_LOG_MANIFESTS."""
        self._check_by_id(request.table_id, request.partition_id)
        return messages.ListRemoteLogManifestsResponse()

    def security_token(
        self, _: messages.GetFileSystemSecurityTokenRequest, __: Caller
    ) -> messages.GetFileSystemSecurityTokenResponse:
        """GET_FILESYSTEM_SECURITY_TOKEN: local files need none."""
        return messages.GetFileSystemSecurityTokenResponse(schema="file", token=b"")

    def _named_partition(self, table: TableInfo, name: str | None) -> PartitionInfo | None:
        if not table.descriptor.is_partitioned:
            if name is not None:
                raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"Table {table.path} is not partitioned.")
            return None
        partition = None if name is None else self._catalog.partition_by_name(table.table_id, name)
        if partition is None:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"Table {table.path} has no partition '{(name or '')[:200]}'.")
        return partition

    def _check_by_id(self, table_id: int, partition_id: int | None) -> None:
        if self._catalog.table_by_id(table_id) is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no table with id {table_id}.")
        if partition_id is None:
            return
        partition = self._catalog.partition_by_id(partition_id)
        if partition is None or partition.table_id != table_id:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"Table {table_id} has no partition with id {partition_id}.")
