"""One row per API: key, highest version, request, response.

Private calls, between the servers of a cluster, are among them; a server offers only those that it has handlers for.
"""

from __future__ import annotations

import enum
from typing import Any, Self

from lakeward.protocol.messages import (
    acl,
    auth,
    cluster,
    database,
    kv,
    lake,
    log,
    metadata,
    partition,
    snapshot,
    table,
)
from lakeward.protocol.messages.servers import orders, reports


class Api(enum.Enum):
    """An API of the wire protocol. The lowest version is always 0."""

    version_max: int
    request: type[Any]
    response: type[Any]
    #: Several dictionaries by API are asked for every request; an enum's own hash is a function in Python.
    __hash__ = object.__hash__

    def __new__(cls, key: int, version_max: int, request: type[Any], response: type[Any]) -> Self:
        """One row of the table."""
        member = object.__new__(cls)
        member._value_ = key
        member.version_max = version_max
        member.request = request
        member.response = response
        return member

    API_VERSIONS = 1000, 0, metadata.ApiVersionsRequest, metadata.ApiVersionsResponse
    CREATE_DATABASE = 1001, 0, database.CreateDatabaseRequest, database.CreateDatabaseResponse
    DROP_DATABASE = 1002, 0, database.DropDatabaseRequest, database.DropDatabaseResponse
    LIST_DATABASES = 1003, 0, database.ListDatabasesRequest, database.ListDatabasesResponse
    DATABASE_EXISTS = 1004, 0, database.DatabaseExistsRequest, database.DatabaseExistsResponse
    CREATE_TABLE = 1005, 0, table.CreateTableRequest, table.CreateTableResponse
    DROP_TABLE = 1006, 0, table.DropTableRequest, table.DropTableResponse
    GET_TABLE_INFO = 1007, 0, table.GetTableInfoRequest, table.GetTableInfoResponse
    LIST_TABLES = 1008, 0, table.ListTablesRequest, table.ListTablesResponse
    LIST_PARTITION_INFOS = 1009, 0, partition.ListPartitionInfosRequest, partition.ListPartitionInfosResponse
    TABLE_EXISTS = 1010, 0, table.TableExistsRequest, table.TableExistsResponse
    GET_TABLE_SCHEMA = 1011, 0, table.GetTableSchemaRequest, table.GetTableSchemaResponse
    GET_METADATA = 1012, 0, metadata.MetadataRequest, metadata.MetadataResponse
    UPDATE_METADATA = 1013, 0, orders.UpdateMetadataRequest, orders.UpdateMetadataResponse
    PRODUCE_LOG = 1014, 0, log.ProduceLogRequest, log.ProduceLogResponse
    FETCH_LOG = 1015, 0, log.FetchLogRequest, log.FetchLogResponse
    PUT_KV = 1016, 2, kv.PutKvRequest, kv.PutKvResponse
    LOOKUP = 1017, 1, kv.LookupRequest, kv.LookupResponse
    NOTIFY_LEADER_AND_ISR = 1018, 0, orders.NotifyLeaderAndIsrRequest, orders.NotifyLeaderAndIsrResponse
    STOP_REPLICA = 1019, 0, orders.StopReplicaRequest, orders.StopReplicaResponse
    ADJUST_ISR = 1020, 0, reports.AdjustIsrRequest, reports.AdjustIsrResponse
    LIST_OFFSETS = 1021, 0, log.ListOffsetsRequest, log.ListOffsetsResponse
    COMMIT_KV_SNAPSHOT = 1022, 0, reports.CommitKvSnapshotRequest, reports.CommitKvSnapshotResponse
    GET_LATEST_KV_SNAPSHOTS = 1023, 0, snapshot.GetLatestKvSnapshotsRequest, snapshot.GetLatestKvSnapshotsResponse
    GET_KV_SNAPSHOT_METADATA = 1024, 0, snapshot.GetKvSnapshotMetadataRequest, snapshot.GetKvSnapshotMetadataResponse
    GET_FILESYSTEM_SECURITY_TOKEN = (
        1025,
        0,
        snapshot.GetFileSystemSecurityTokenRequest,
        snapshot.GetFileSystemSecurityTokenResponse,
    )
    INIT_WRITER = 1026, 0, log.InitWriterRequest, log.InitWriterResponse
    COMMIT_REMOTE_LOG_MANIFEST = (
        1027,
        0,
        reports.CommitRemoteLogManifestRequest,
        reports.CommitRemoteLogManifestResponse,
    )
    NOTIFY_REMOTE_LOG_OFFSETS = 1028, 0, orders.NotifyRemoteLogOffsetsRequest, orders.NotifyRemoteLogOffsetsResponse
    NOTIFY_KV_SNAPSHOT_OFFSET = 1029, 0, orders.NotifyKvSnapshotOffsetRequest, orders.NotifyKvSnapshotOffsetResponse
    COMMIT_LAKE_TABLE_SNAPSHOT = 1030, 0, lake.CommitLakeTableSnapshotRequest, lake.CommitLakeTableSnapshotResponse
    NOTIFY_LAKE_TABLE_OFFSET = 1031, 0, orders.NotifyLakeTableOffsetRequest, orders.NotifyLakeTableOffsetResponse
    GET_LAKE_SNAPSHOT = 1032, 0, lake.GetLakeSnapshotRequest, lake.GetLakeSnapshotResponse
    LIMIT_SCAN = 1033, 0, log.LimitScanRequest, log.LimitScanResponse
    PREFIX_LOOKUP = 1034, 1, kv.PrefixLookupRequest, kv.PrefixLookupResponse
    GET_DATABASE_INFO = 1035, 0, database.GetDatabaseInfoRequest, database.GetDatabaseInfoResponse
    CREATE_PARTITION = 1036, 0, partition.CreatePartitionRequest, partition.CreatePartitionResponse
    DROP_PARTITION = 1037, 0, partition.DropPartitionRequest, partition.DropPartitionResponse
    AUTHENTICATE = 1038, 0, auth.AuthenticateRequest, auth.AuthenticateResponse
    CREATE_ACLS = 1039, 0, acl.CreateAclsRequest, acl.CreateAclsResponse
    LIST_ACLS = 1040, 0, acl.ListAclsRequest, acl.ListAclsResponse
    DROP_ACLS = 1041, 0, acl.DropAclsRequest, acl.DropAclsResponse
    LAKE_TIERING_HEARTBEAT = 1042, 0, lake.LakeTieringHeartbeatRequest, lake.LakeTieringHeartbeatResponse
    CONTROLLED_SHUTDOWN = 1043, 0, reports.ControlledShutdownRequest, reports.ControlledShutdownResponse
    ALTER_TABLE = 1044, 0, table.AlterTableRequest, table.AlterTableResponse
    DESCRIBE_CLUSTER_CONFIGS = 1045, 0, cluster.DescribeClusterConfigsRequest, cluster.DescribeClusterConfigsResponse
    ALTER_CLUSTER_CONFIGS = 1046, 0, cluster.AlterClusterConfigsRequest, cluster.AlterClusterConfigsResponse
    ADD_SERVER_TAG = 1047, 0, cluster.AddServerTagRequest, cluster.AddServerTagResponse
    REMOVE_SERVER_TAG = 1048, 0, cluster.RemoveServerTagRequest, cluster.RemoveServerTagResponse
    REBALANCE = 1049, 0, cluster.RebalanceRequest, cluster.RebalanceResponse
    LIST_REBALANCE_PROGRESS = 1050, 0, cluster.ListRebalanceProgressRequest, cluster.ListRebalanceProgressResponse
    CANCEL_REBALANCE = 1051, 0, cluster.CancelRebalanceRequest, cluster.CancelRebalanceResponse
    PREPARE_LAKE_TABLE_SNAPSHOT = 1052, 0, lake.PrepareLakeTableSnapshotRequest, lake.PrepareLakeTableSnapshotResponse
    REGISTER_PRODUCER_OFFSETS = 1053, 0, log.RegisterProducerOffsetsRequest, log.RegisterProducerOffsetsResponse
    GET_PRODUCER_OFFSETS = 1054, 0, log.GetProducerOffsetsRequest, log.GetProducerOffsetsResponse
    DELETE_PRODUCER_OFFSETS = 1055, 0, log.DeleteProducerOffsetsRequest, log.DeleteProducerOffsetsResponse
    ACQUIRE_KV_SNAPSHOT_LEASE = 1056, 0, snapshot.AcquireKvSnapshotLeaseRequest, snapshot.AcquireKvSnapshotLeaseResponse
    RELEASE_KV_SNAPSHOT_LEASE = 1057, 0, snapshot.ReleaseKvSnapshotLeaseRequest, snapshot.ReleaseKvSnapshotLeaseResponse
    DROP_KV_SNAPSHOT_LEASE = 1058, 0, snapshot.DropKvSnapshotLeaseRequest, snapshot.DropKvSnapshotLeaseResponse
    GET_TABLE_STATS = 1059, 0, table.GetTableStatsRequest, table.GetTableStatsResponse
    ALTER_DATABASE = 1060, 0, database.AlterDatabaseRequest, database.AlterDatabaseResponse
    SCAN_KV = 1061, 0, kv.ScanKvRequest, kv.ScanKvResponse
    GET_CLUSTER_HEALTH = 1062, 0, metadata.GetClusterHealthRequest, metadata.GetClusterHealthResponse
    LIST_REMOTE_LOG_MANIFESTS = 1063, 0, snapshot.ListRemoteLogManifestsRequest, snapshot.ListRemoteLogManifestsResponse
    LIST_KV_SNAPSHOTS = 1064, 0, snapshot.ListKvSnapshotsRequest, snapshot.ListKvSnapshotsResponse

    @classmethod
    def of_key(cls, key: int) -> Api | None:
        """The row for a key from the wire, or None."""
        return _BY_KEY.get(key)


_BY_KEY = {api.value: api for api in Api}
#: What servers of a cluster say to each other, and nobody else may say to them.
BETWEEN_SERVERS = frozenset(
    {
        Api.UPDATE_METADATA,
        Api.NOTIFY_LEADER_AND_ISR,
        Api.STOP_REPLICA,
        Api.ADJUST_ISR,
        Api.COMMIT_KV_SNAPSHOT,
        Api.COMMIT_REMOTE_LOG_MANIFEST,
        Api.NOTIFY_REMOTE_LOG_OFFSETS,
        Api.NOTIFY_KV_SNAPSHOT_OFFSET,
        Api.NOTIFY_LAKE_TABLE_OFFSET,
        Api.CONTROLLED_SHUTDOWN,
    }
)
