"""One request for every API, the right it takes, and how one sees that it was refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wire_client import HELLO, WireClient
from wire_tables import table_json

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import CLUSTER, Acl, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.protocol.api import BETWEEN_SERVERS, Api
from lakeward.protocol.messages import auth, cluster, database, kv, lake, log, metadata, partition, snapshot, table
from lakeward.protocol.messages.acl import CreateAclsRequest, DropAclsRequest, ListAclsRequest, PbAclFilter, PbAclInfo
from lakeward.protocol.messages.shared import PbTablePath

ALL, READ, WRITE, CREATE = Operation.ALL, Operation.READ, Operation.WRITE, Operation.CREATE
DROP, ALTER, DESCRIBE = Operation.DROP, Operation.ALTER, Operation.DESCRIBE
DENIED = ErrorCode.AUTHORIZATION.value
SHOP = Resource.database("shop")
ORDERS = Resource.table("shop", "orders")
PRICES = Resource.table("shop", "prices")
GRANTED = Acl(ORDERS, Principal("bob"), READ)
PRODUCER, LEASE = "producer-1", "lease-1"

_ORDERS = PbTablePath(database_name="shop", table_name="orders")
_PRICES = PbTablePath(database_name="shop", table_name="prices")
_GONE = PbTablePath(database_name="shop", table_name="gone")
_SPEC = partition.PbPartitionSpec()


class TableIds(NamedTuple):
    """Numbers of the tables."""

    orders: int
    prices: int


class Case(NamedTuple):
    """A request; `right` on `resource` lets it through, and `None` means that nothing is asked for."""

    request: Callable[[TableIds], Any]
    right: Operation | None
    resource: Resource | None
    is_refused: Callable[[Any], bool] | None = None


def outcome(client: WireClient, api: Api, case: Case, ids: TableIds) -> bool:
    """Whether somebody is refused."""
    try:
        answer = client.call(api, case.request(ids))
    except LakewardError as wrong:
        return wrong.code is ErrorCode.AUTHORIZATION
    return case.is_refused is not None and case.is_refused(answer)


def _buckets(answer: Any) -> bool:
    return [one.error_code for one in answer.buckets_resp] == [DENIED]


def _fetched(answer: log.FetchLogResponse) -> bool:
    return [one.error_code for one in answer.tables_resp[0].buckets_resp] == [DENIED]


def _body(answer: Any) -> bool:
    return bool(answer.error_code == DENIED)


def _is_not_there(answer: Any) -> bool:
    return not answer.exists


def _fetch(table_id: int, follower: int = -1) -> log.FetchLogRequest:
    bucket = log.PbFetchLogReqForBucket(bucket_id=0, fetch_offset=0, max_fetch_bytes=1000)
    asked = log.PbFetchLogReqForTable(table_id=table_id, projection_pushdown_enabled=False, buckets_req=(bucket,))
    return log.FetchLogRequest(follower_server_id=follower, max_bytes=1000, tables_req=(asked,))


def _filter(resource: Resource) -> PbAclFilter:
    return PbAclFilter(
        resource_name=resource.name, resource_type=resource.type, operation_type=Operation.ANY, permission_type=1
    )


def _granted() -> PbAclInfo:
    return PbAclInfo(
        resource_name=GRANTED.resource.name,
        resource_type=GRANTED.resource.type,
        principal_name=GRANTED.principal.name,
        principal_type=GRANTED.principal.type,
        host="*",
        operation_type=GRANTED.operation,
        permission_type=2,
    )


def _on_table(request: Callable[[TableIds], Any], right: Operation, is_refused: Any = None) -> Case:
    return Case(request, right, ORDERS, is_refused)


def _on_keyed(request: Callable[[TableIds], Any], right: Operation, is_refused: Any = None) -> Case:
    return Case(request, right, PRICES, is_refused)


def _on_cluster(request: Callable[[TableIds], Any], right: Operation) -> Case:
    return Case(request, right, CLUSTER)


_LEASED = snapshot.PbKvSnapshotLeaseForBucket(bucket_id=0, snapshot_id=1)
_KEYS = (b"k",)

CASES: dict[Api, Case] = {
    **dict.fromkeys(BETWEEN_SERVERS, Case(lambda _: HELLO, None, None)),
    Api.API_VERSIONS: Case(lambda _: HELLO, None, None),
    Api.AUTHENTICATE: Case(lambda _: auth.AuthenticateRequest(protocol="PLAINTEXT", token=b""), None, None),
    Api.GET_METADATA: _on_table(
        lambda _: metadata.MetadataRequest(table_path=(_ORDERS,)), DESCRIBE, lambda answer: not answer.table_metadata
    ),
    Api.CREATE_DATABASE: _on_cluster(
        lambda _: database.CreateDatabaseRequest(database_name="shop", ignore_if_exists=True), CREATE
    ),
    Api.ALTER_DATABASE: Case(
        lambda _: database.AlterDatabaseRequest(database_name="shop", ignore_if_not_exists=True), ALTER, SHOP
    ),
    Api.DROP_DATABASE: Case(
        lambda _: database.DropDatabaseRequest(database_name="shop", ignore_if_not_exists=True, cascade=False),
        DROP,
        SHOP,
    ),
    Api.LIST_DATABASES: Case(
        lambda _: database.ListDatabasesRequest(), DESCRIBE, SHOP, lambda answer: "shop" not in answer.database_name
    ),
    Api.DATABASE_EXISTS: Case(
        lambda _: database.DatabaseExistsRequest(database_name="shop"), DESCRIBE, SHOP, _is_not_there
    ),
    Api.GET_DATABASE_INFO: Case(lambda _: database.GetDatabaseInfoRequest(database_name="shop"), DESCRIBE, SHOP),
    Api.CREATE_TABLE: Case(
        lambda _: table.CreateTableRequest(
            table_path=_ORDERS, table_json=table_json(("id", "BIGINT")), ignore_if_exists=True
        ),
        CREATE,
        SHOP,
    ),
    Api.ALTER_TABLE: _on_table(lambda _: table.AlterTableRequest(table_path=_ORDERS, ignore_if_not_exists=True), ALTER),
    Api.DROP_TABLE: Case(
        lambda _: table.DropTableRequest(table_path=_GONE, ignore_if_not_exists=True),
        DROP,
        Resource.table("shop", "gone"),
    ),
    Api.LIST_TABLES: _on_table(
        lambda _: table.ListTablesRequest(database_name="shop"),
        DESCRIBE,
        lambda answer: "orders" not in answer.table_name,
    ),
    Api.TABLE_EXISTS: _on_table(lambda _: table.TableExistsRequest(table_path=_ORDERS), DESCRIBE, _is_not_there),
    Api.GET_TABLE_INFO: _on_table(lambda _: table.GetTableInfoRequest(table_path=_ORDERS), DESCRIBE),
    Api.GET_TABLE_SCHEMA: _on_table(lambda _: table.GetTableSchemaRequest(table_path=_ORDERS), DESCRIBE),
    Api.GET_TABLE_STATS: _on_table(lambda ids: table.GetTableStatsRequest(table_id=ids.orders), READ),
    Api.CREATE_PARTITION: _on_table(
        lambda _: partition.CreatePartitionRequest(table_path=_ORDERS, partition_spec=_SPEC, ignore_if_not_exists=True),
        WRITE,
    ),
    Api.DROP_PARTITION: _on_table(
        lambda _: partition.DropPartitionRequest(table_path=_ORDERS, partition_spec=_SPEC, ignore_if_not_exists=True),
        WRITE,
    ),
    Api.LIST_PARTITION_INFOS: _on_table(lambda _: partition.ListPartitionInfosRequest(table_path=_ORDERS), DESCRIBE),
    Api.INIT_WRITER: _on_table(lambda _: log.InitWriterRequest(table_path=(_GONE, _ORDERS)), WRITE),
    Api.PRODUCE_LOG: _on_table(lambda ids: log.ProduceLogRequest(acks=-1, table_id=ids.orders, timeout_ms=1000), WRITE),
    Api.FETCH_LOG: _on_table(lambda ids: _fetch(ids.orders, follower=7), READ, _fetched),
    Api.LIST_OFFSETS: _on_table(
        lambda ids: log.ListOffsetsRequest(follower_server_id=-1, offset_type=1, table_id=ids.orders, bucket_id=(0,)),
        DESCRIBE,
    ),
    Api.LIMIT_SCAN: _on_table(lambda ids: log.LimitScanRequest(table_id=ids.orders, bucket_id=0, limit=1), READ),
    Api.PUT_KV: _on_keyed(lambda ids: kv.PutKvRequest(acks=-1, table_id=ids.prices, timeout_ms=1000), WRITE),
    Api.LOOKUP: _on_keyed(
        lambda ids: kv.LookupRequest(
            table_id=ids.prices, buckets_req=(kv.PbLookupReqForBucket(bucket_id=0, keys=_KEYS),)
        ),
        READ,
        _buckets,
    ),
    Api.PREFIX_LOOKUP: _on_keyed(
        lambda ids: kv.PrefixLookupRequest(
            table_id=ids.prices, buckets_req=(kv.PbPrefixLookupReqForBucket(bucket_id=0, keys=_KEYS),)
        ),
        READ,
        _buckets,
    ),
    Api.SCAN_KV: _on_keyed(
        lambda ids: kv.ScanKvRequest(
            bucket_scan_req=kv.PbScanReqForBucket(table_id=ids.prices, bucket_id=0), call_seq_id=0, batch_size_bytes=9
        ),
        READ,
        _body,
    ),
    Api.REGISTER_PRODUCER_OFFSETS: _on_table(
        lambda ids: log.RegisterProducerOffsetsRequest(
            producer_id=PRODUCER, table_offsets=(log.PbProducerTableOffsets(table_id=ids.orders),)
        ),
        WRITE,
    ),
    Api.GET_PRODUCER_OFFSETS: _on_table(
        lambda _: log.GetProducerOffsetsRequest(producer_id="admins"), READ, lambda answer: not answer.table_offsets
    ),
    Api.DELETE_PRODUCER_OFFSETS: _on_table(lambda _: log.DeleteProducerOffsetsRequest(producer_id="admins"), WRITE),
    Api.GET_LATEST_KV_SNAPSHOTS: _on_keyed(
        lambda _: snapshot.GetLatestKvSnapshotsRequest(table_path=_PRICES), DESCRIBE
    ),
    Api.GET_KV_SNAPSHOT_METADATA: _on_keyed(
        lambda ids: snapshot.GetKvSnapshotMetadataRequest(table_id=ids.prices, bucket_id=0, snapshot_id=1), DESCRIBE
    ),
    Api.LIST_KV_SNAPSHOTS: _on_keyed(lambda ids: snapshot.ListKvSnapshotsRequest(table_id=ids.prices), DESCRIBE),
    Api.ACQUIRE_KV_SNAPSHOT_LEASE: _on_keyed(
        lambda ids: snapshot.AcquireKvSnapshotLeaseRequest(
            lease_id=LEASE,
            lease_duration_ms=1000,
            snapshots_to_lease=(snapshot.PbKvSnapshotLeaseForTable(table_id=ids.prices, bucket_snapshots=(_LEASED,)),),
        ),
        READ,
    ),
    Api.RELEASE_KV_SNAPSHOT_LEASE: _on_keyed(
        lambda ids: snapshot.ReleaseKvSnapshotLeaseRequest(
            lease_id=LEASE, buckets_to_release=(snapshot.PbTableBucket(table_id=ids.prices, bucket_id=0),)
        ),
        READ,
    ),
    Api.DROP_KV_SNAPSHOT_LEASE: _on_keyed(lambda _: snapshot.DropKvSnapshotLeaseRequest(lease_id="admins"), READ),
    Api.LIST_REMOTE_LOG_MANIFESTS: _on_table(
        lambda ids: snapshot.ListRemoteLogManifestsRequest(table_id=ids.orders), DESCRIBE
    ),
    Api.GET_FILESYSTEM_SECURITY_TOKEN: _on_table(lambda _: snapshot.GetFileSystemSecurityTokenRequest(), READ),
    Api.GET_LAKE_SNAPSHOT: _on_table(lambda _: lake.GetLakeSnapshotRequest(table_path=_ORDERS), DESCRIBE),
    Api.LAKE_TIERING_HEARTBEAT: _on_cluster(lambda _: lake.LakeTieringHeartbeatRequest(), WRITE),
    Api.PREPARE_LAKE_TABLE_SNAPSHOT: _on_table(
        lambda ids: lake.PrepareLakeTableSnapshotRequest(
            bucket_offsets=(lake.PbTableOffsets(table_id=ids.orders, table_path=_ORDERS),)
        ),
        WRITE,
    ),
    Api.COMMIT_LAKE_TABLE_SNAPSHOT: _on_table(
        lambda ids: lake.CommitLakeTableSnapshotRequest(
            tables_req=(lake.PbLakeTableSnapshotInfo(table_id=ids.orders, snapshot_id=1),)
        ),
        WRITE,
    ),
    Api.DESCRIBE_CLUSTER_CONFIGS: _on_cluster(lambda _: cluster.DescribeClusterConfigsRequest(), DESCRIBE),
    Api.ALTER_CLUSTER_CONFIGS: _on_cluster(lambda _: cluster.AlterClusterConfigsRequest(), ALTER),
    Api.ADD_SERVER_TAG: _on_cluster(lambda _: cluster.AddServerTagRequest(server_tag=1), ALTER),
    Api.REMOVE_SERVER_TAG: _on_cluster(lambda _: cluster.RemoveServerTagRequest(server_tag=1), ALTER),
    Api.REBALANCE: _on_cluster(lambda _: cluster.RebalanceRequest(goals=(0,)), WRITE),
    Api.LIST_REBALANCE_PROGRESS: _on_cluster(lambda _: cluster.ListRebalanceProgressRequest(), DESCRIBE),
    Api.CANCEL_REBALANCE: _on_cluster(lambda _: cluster.CancelRebalanceRequest(), WRITE),
    Api.GET_CLUSTER_HEALTH: _on_cluster(lambda _: metadata.GetClusterHealthRequest(), DESCRIBE),
    Api.CREATE_ACLS: Case(lambda _: CreateAclsRequest(acl=(_granted(),)), ALL, SHOP),
    Api.LIST_ACLS: _on_table(
        lambda _: ListAclsRequest(acl_filter=_filter(ORDERS)), DESCRIBE, lambda answer: not answer.acl
    ),
    Api.DROP_ACLS: Case(lambda _: DropAclsRequest(acl_filter=(_filter(ORDERS),)), ALL, SHOP),
}
