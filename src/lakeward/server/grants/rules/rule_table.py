"""The rules: one row for every API. An API without a row cannot be served (`guard`).

They are Apache Fluss's, but for those that let somebody without any right in. Those differ on purpose, and
docs/decisions/0036 says why: a fetch is refused whoever the client says to be, keys to remote storage are for readers,
and reports of tiering, which decide what a log may delete, are for those who may write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lakeward.model.acl import Operation, Resource
from lakeward.protocol.api import BETWEEN_SERVERS, Api
from lakeward.protocol.messages.database import DatabaseExistsResponse, ListDatabasesRequest, ListDatabasesResponse
from lakeward.protocol.messages.kv import ScanKvResponse
from lakeward.protocol.messages.log import GetProducerOffsetsRequest, GetProducerOffsetsResponse
from lakeward.protocol.messages.table import ListTablesRequest, ListTablesResponse, TableExistsResponse
from lakeward.server.grants.acls.thing import Thing
from lakeward.server.grants.rules import subjects as of
from lakeward.server.grants.rules.bucket_forms import FetchForm, LookupForm, PrefixLookupForm
from lakeward.server.grants.rules.known_things import KnownThings
from lakeward.server.grants.rules.partial_rules import Hides, LeavesOutAsked, LeavesOutListed, NeedsByBucket
from lakeward.server.grants.rules.rule import (
    Depends,
    ForServers,
    Needs,
    NeedsAll,
    NeedsInBody,
    NeedsOne,
    NeedsSomewhere,
    Open,
    Rule,
    SeesForItself,
)

ALL, READ, WRITE, CREATE = Operation.ALL, Operation.READ, Operation.WRITE, Operation.CREATE
DROP, ALTER, DESCRIBE = Operation.DROP, Operation.ALTER, Operation.DESCRIBE
#: A catalog of Flink asks for it before anything else.
_DEFAULT_DATABASE = frozenset({"fluss"})
_MayTell = Callable[[Thing], bool]


def _databases(
    _: ListDatabasesRequest, answer: ListDatabasesResponse, may: _MayTell, __: KnownThings
) -> ListDatabasesResponse:
    def is_told(name: str) -> bool:
        return may(Thing.by_name(Resource.database(name)))

    return ListDatabasesResponse(
        database_name=tuple(filter(is_told, answer.database_name)),
        database_summary=tuple(one for one in answer.database_summary if is_told(one.database_name)),
    )


def _tables(asked: ListTablesRequest, answer: ListTablesResponse, may: _MayTell, _: KnownThings) -> ListTablesResponse:
    def is_told(name: str) -> bool:
        return may(Thing.by_name(Resource.table(asked.database_name, name)))

    return ListTablesResponse(table_name=tuple(filter(is_told, answer.table_name)))


def _producer_offsets(
    _: GetProducerOffsetsRequest, answer: GetProducerOffsetsResponse, may: _MayTell, known: KnownThings
) -> GetProducerOffsetsResponse:
    def is_told(table_id: int) -> bool:
        table = known.find_table(table_id)
        return table is not None and may(table)

    return replace(answer, table_offsets=tuple(one for one in answer.table_offsets if is_told(one.table_id)))


def _inserts(request: Any) -> bool:
    return bool(request.insert_if_not_exists)


RULES: dict[Api, Rule] = {
    Api.API_VERSIONS: Open(),
    Api.AUTHENTICATE: Open(),
    Api.GET_METADATA: LeavesOutAsked(),
    # Databases
    Api.CREATE_DATABASE: Needs(CREATE, of.the_cluster),
    Api.ALTER_DATABASE: Needs(ALTER, of.the_database),
    Api.DROP_DATABASE: Needs(DROP, of.the_database),
    Api.LIST_DATABASES: LeavesOutListed(DESCRIBE, "database", _databases),
    Api.DATABASE_EXISTS: Hides(of.the_database, DatabaseExistsResponse, _DEFAULT_DATABASE),
    Api.GET_DATABASE_INFO: Needs(DESCRIBE, of.the_database),
    # Tables
    Api.CREATE_TABLE: Needs(CREATE, of.its_database),
    Api.ALTER_TABLE: Needs(ALTER, of.the_table),
    Api.DROP_TABLE: Needs(DROP, of.the_table),
    Api.LIST_TABLES: LeavesOutListed(DESCRIBE, "table", _tables),
    Api.TABLE_EXISTS: Hides(of.the_table, TableExistsResponse),
    Api.GET_TABLE_INFO: Needs(DESCRIBE, of.the_table),
    Api.GET_TABLE_SCHEMA: Needs(DESCRIBE, of.the_table),
    Api.GET_TABLE_STATS: Needs(READ, of.the_numbered_table),
    Api.CREATE_PARTITION: Needs(WRITE, of.the_table),
    Api.DROP_PARTITION: Needs(WRITE, of.the_table),
    Api.LIST_PARTITION_INFOS: Needs(DESCRIBE, of.the_table),
    # Rows
    Api.INIT_WRITER: NeedsOne(WRITE, of.the_tables),
    Api.PRODUCE_LOG: Needs(WRITE, of.the_numbered_table),
    Api.FETCH_LOG: NeedsByBucket(READ, FetchForm()),
    Api.LIST_OFFSETS: Needs(DESCRIBE, of.the_numbered_table),
    Api.LIMIT_SCAN: Needs(READ, of.the_numbered_table),
    Api.PUT_KV: Needs(WRITE, of.the_numbered_table),
    Api.LOOKUP: Depends(_inserts, Needs(WRITE, of.the_numbered_table), NeedsByBucket(READ, LookupForm())),
    Api.PREFIX_LOOKUP: NeedsByBucket(READ, PrefixLookupForm()),
    Api.SCAN_KV: NeedsInBody(READ, of.the_scanned_table, ScanKvResponse),
    # What producers note
    Api.REGISTER_PRODUCER_OFFSETS: NeedsAll(WRITE, of.the_registered_tables),
    Api.GET_PRODUCER_OFFSETS: LeavesOutListed(READ, "table", _producer_offsets),
    Api.DELETE_PRODUCER_OFFSETS: Needs(WRITE, of.the_tables_of_the_producer),
    # Snapshots and remote storage
    Api.GET_LATEST_KV_SNAPSHOTS: Needs(DESCRIBE, of.the_table),
    Api.GET_KV_SNAPSHOT_METADATA: Needs(DESCRIBE, of.the_numbered_table),
    Api.LIST_KV_SNAPSHOTS: Needs(DESCRIBE, of.the_numbered_table),
    Api.ACQUIRE_KV_SNAPSHOT_LEASE: NeedsAll(READ, of.the_tables_to_lease),
    Api.RELEASE_KV_SNAPSHOT_LEASE: NeedsAll(READ, of.the_tables_to_release),
    Api.DROP_KV_SNAPSHOT_LEASE: Needs(READ, of.the_tables_of_the_lease),
    Api.LIST_REMOTE_LOG_MANIFESTS: Needs(DESCRIBE, of.the_numbered_table),
    Api.GET_FILESYSTEM_SECURITY_TOKEN: NeedsSomewhere(READ),
    # The lake
    Api.GET_LAKE_SNAPSHOT: Needs(DESCRIBE, of.the_table),
    Api.LAKE_TIERING_HEARTBEAT: Needs(WRITE, of.the_cluster),
    Api.PREPARE_LAKE_TABLE_SNAPSHOT: NeedsAll(WRITE, of.the_tables_to_commit),
    Api.COMMIT_LAKE_TABLE_SNAPSHOT: NeedsAll(WRITE, of.the_committed_tables),
    # The cluster
    Api.DESCRIBE_CLUSTER_CONFIGS: Needs(DESCRIBE, of.the_cluster),
    Api.ALTER_CLUSTER_CONFIGS: Needs(ALTER, of.the_cluster),
    Api.ADD_SERVER_TAG: Needs(ALTER, of.the_cluster),
    Api.REMOVE_SERVER_TAG: Needs(ALTER, of.the_cluster),
    Api.REBALANCE: Needs(WRITE, of.the_cluster),
    Api.LIST_REBALANCE_PROGRESS: Needs(DESCRIBE, of.the_cluster),
    Api.CANCEL_REBALANCE: Needs(WRITE, of.the_cluster),
    Api.GET_CLUSTER_HEALTH: Needs(DESCRIBE, of.the_cluster),
    # Grants
    Api.CREATE_ACLS: NeedsAll(ALL, of.the_database_or_the_cluster),
    Api.LIST_ACLS: SeesForItself("DESCRIBE on each resource"),
    Api.DROP_ACLS: SeesForItself("ALL on the database or the cluster"),
    **dict.fromkeys(BETWEEN_SERVERS, ForServers()),
}
#: What Apache Fluss lets everybody do who got in (`authorizer.tiering-calls`).
TIERING_CALLS = (Api.LAKE_TIERING_HEARTBEAT, Api.PREPARE_LAKE_TABLE_SNAPSHOT, Api.COMMIT_LAKE_TABLE_SNAPSHOT)
