"""The same grants on an Apache Fluss and here: the same calls are refused, and the same are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pytest
from eventually import eventually
from logins import log_in
from principals import creation, dropping
from rights_cases import CASES, GRANTED, Case, TableIds, outcome
from wire_client import HELLO, WireClient, WireCluster
from wire_tables import WireTable, create_database

from lakeward.errors import AlreadyExistsError
from lakeward.model.acl import Acl, AclFilter, Operation
from lakeward.model.principal import Principal
from lakeward.protocol.api import Api
from lakeward.protocol.messages import log
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.shared import PbTablePath

ALICE = Principal("alice")
_RIGHTS = [one for one in Operation if one is not Operation.ANY]
#: Where the two are not the same, and why.
_DIFFERENT = {
    Api.DATABASE_EXISTS: "0.9 tells everybody; newer ones hide it",
    Api.TABLE_EXISTS: "0.9 tells everybody; newer ones hide it",
    Api.LIST_OFFSETS: "0.9 asks for nothing, newer ones for DESCRIBE",
    Api.GET_FILESYSTEM_SECURITY_TOKEN: "docs/decisions/0036: keys are for readers",
    Api.LAKE_TIERING_HEARTBEAT: "docs/decisions/0036: tiering is for writers",
    Api.PREPARE_LAKE_TABLE_SNAPSHOT: "docs/decisions/0036: tiering is for writers",
    Api.COMMIT_LAKE_TABLE_SNAPSHOT: "docs/decisions/0036: tiering is for writers",
    Api.ALTER_CLUSTER_CONFIGS: "no change at all is not looked at there",
    Api.CREATE_ACLS: "0.9 wants ALTER, newer ones ALL",
    Api.DROP_ACLS: "0.9 wants ALTER, newer ones ALL",
    Api.DROP_KV_SNAPSHOT_LEASE: "there is no snapshot to hold",
}
_COMPARED = [api for api in Api if CASES[api].right is not None and api not in _DIFFERENT]


class Role(NamedTuple):
    """A connection to one of the servers, and what may be asked there."""

    client: WireClient
    keys: set[int]


class Peer:
    """The cluster, as two of its users see it."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.admin, self.alice = (self._roles(name) for name in ("admin", "alice"))
        cluster = WireCluster(*(role.client for role in self.admin))
        create_database(cluster, "shop")
        orders = _table(cluster, "orders")
        prices = _table(cluster, "prices", primary_key=("id",))
        self.ids = TableIds(orders.table_id, prices.table_id)

    def _roles(self, name: str) -> list[Role]:
        with WireClient.of(self._bootstrap) as first:
            log_in(first, name, f"{name}-secret")
            assert eventually(lambda: first.call(Api.GET_METADATA, MetadataRequest()).tablet_servers)
            answer = first.call(Api.GET_METADATA, MetadataRequest())
        roles = []
        for node in (answer.coordinator_server, *answer.tablet_servers):
            client = WireClient(node.host, node.port)
            served = client.call(Api.API_VERSIONS, HELLO).api_versions
            log_in(client, name, f"{name}-secret")
            roles.append(Role(client, {one.api_key for one in served}))
        return roles

    def allow_only(self, *acls: Acl) -> None:
        """These grants and no others; offsets of a producer are there."""
        self.client(self.admin, Api.DROP_ACLS).call(Api.DROP_ACLS, dropping(AclFilter()))
        self.client(self.admin, Api.CREATE_ACLS).call(Api.CREATE_ACLS, creation(*acls, GRANTED))
        api, bucket = Api.REGISTER_PRODUCER_OFFSETS, log.PbBucketOffset(bucket_id=0, log_end_offset=1)
        if any(api.value in role.keys for role in self.admin):
            offsets = (log.PbProducerTableOffsets(table_id=self.ids.orders, bucket_offsets=(bucket,)),)
            request = log.RegisterProducerOffsetsRequest(producer_id="admins", table_offsets=offsets)
            self.client(self.admin, api).call(api, request)

    @staticmethod
    def client(roles: list[Role], api: Api) -> WireClient:
        """Who serves a call."""
        for role in roles:
            if api.value in role.keys:
                return role.client
        pytest.skip(f"this version has no {api.name}")


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    """An Apache Fluss with users, where admin is a super user."""
    found = Peer(os.environ["LAKEWARD_PEER_GRANTS"])
    yield found
    for role in (*found.admin, *found.alice):
        role.client.close()


@pytest.mark.parametrize("api", _COMPARED, ids=lambda api: api.name)
def test_the_same_right_is_asked_for(peer: Peer, api: Api) -> None:
    """Each operation on the resource alone; a grant takes a moment to reach all servers of a cluster."""
    case = _as_a_client(CASES[api]) if api is Api.FETCH_LOG else CASES[api]
    client = peer.client(peer.alice, api)
    assert case.right is not None
    assert case.resource is not None
    enough = {case.right, Operation.ALL} | (set(_RIGHTS) if case.right is Operation.DESCRIBE else set())
    for operation in (None, *_RIGHTS):
        peer.allow_only(*([] if operation is None else [Acl(case.resource, ALICE, operation)]))
        refused = operation not in enough
        is_so = partial(_is_so, client, api, case, peer.ids, refused)
        assert eventually(is_so, within_s=20), operation


def _is_so(client: WireClient, api: Api, case: Case, ids: TableIds, refused: bool) -> bool:
    return outcome(client, api, case, ids) is refused


def _table(cluster: WireCluster, name: str, **parts: Any) -> WireTable:
    """A table, which an earlier run may have made."""
    try:
        return WireTable.create(cluster, "shop", name, **parts)
    except AlreadyExistsError:
        return WireTable.find(cluster, PbTablePath(database_name="shop", table_name=name))


def _as_a_client(case: Case) -> Case:
    """There, whoever says to be a server is not checked."""
    return case._replace(request=lambda ids: replace(case.request(ids), follower_server_id=-1))
