"""The cluster: versions, servers, leaders, health."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import PbTablePath


@message
class ApiVersionsRequest:
    """API_VERSIONS (1000), asked."""

    client_software_name: str = f(1)
    client_software_version: str = f(2)


@message
class PbApiVersion:
    api_key: i32 = f(1)
    min_version: i32 = f(2)
    max_version: i32 = f(3)


@message
class ApiVersionsResponse:
    """API_VERSIONS (1000), answered."""

    api_versions: tuple[PbApiVersion, ...] = f(1, default=())
    server_type: i32 | None = f(2, default=None)


@message
class PbPhysicalTablePath:
    database_name: str = f(1)
    table_name: str = f(2)
    partition_name: str | None = f(3, default=None)


@message
class MetadataRequest:
    """GET_METADATA (1012), asked."""

    table_path: tuple[PbTablePath, ...] = f(1, default=())
    partitions_path: tuple[PbPhysicalTablePath, ...] = f(2, default=())
    partitions_id: tuple[i64, ...] = f(3, default=(), packed=True)


@message
class PbServerNode:
    node_id: i32 = f(1)
    host: str = f(2)
    port: i32 = f(3)
    listeners: str | None = f(4, default=None)
    rack: str | None = f(5, default=None)


@message
class PbBucketMetadata:
    bucket_id: i32 = f(1)
    leader_id: i32 | None = f(2, default=None)
    replica_id: tuple[i32, ...] = f(3, default=(), packed=True)
    leader_epoch: i32 | None = f(4, default=None)


@message
class PbTableMetadata:
    table_path: PbTablePath = f(1)
    table_id: i64 = f(2)
    schema_id: i32 = f(3)
    table_json: bytes = f(4)
    bucket_metadata: tuple[PbBucketMetadata, ...] = f(5, default=())
    created_time: i64 = f(6)
    modified_time: i64 = f(7)
    remote_data_dir: str | None = f(8, default=None)


@message
class PbPartitionMetadata:
    table_id: i64 = f(1)
    partition_name: str = f(2)
    partition_id: i64 = f(3)
    bucket_metadata: tuple[PbBucketMetadata, ...] = f(4, default=())


@message
class MetadataResponse:
    """GET_METADATA (1012), answered."""

    coordinator_server: PbServerNode | None = f(1, default=None)
    tablet_servers: tuple[PbServerNode, ...] = f(2, default=())
    table_metadata: tuple[PbTableMetadata, ...] = f(3, default=())
    partition_metadata: tuple[PbPartitionMetadata, ...] = f(4, default=())


@message
class GetClusterHealthRequest:
    """GET_CLUSTER_HEALTH (1062), asked."""


@message
class GetClusterHealthResponse:
    """GET_CLUSTER_HEALTH (1062), answered."""

    num_replicas: i32 = f(1)
    in_sync_replicas: i32 = f(2)
    num_leader_replicas: i32 = f(3)
    active_leader_replicas: i32 = f(4)
    status: i32 = f(5)
