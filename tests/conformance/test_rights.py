"""Who may do what: every API, with and without the right, over the wire of a whole server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from principals import ADMIN, ALICE, PrincipalClient, PrincipalWorld
from rights_cases import CASES, GRANTED, ORDERS, PRICES, SHOP, Case, TableIds, outcome
from wire_client import WireCluster
from wire_tables import WireTable

from lakeward.model.acl import ANY_NAME, CLUSTER, EVERYBODY, Acl, Operation, Resource, ResourceType
from lakeward.model.bucket import TableBucket
from lakeward.model.principal import Principal
from lakeward.protocol.api import Api
from lakeward.protocol.messages import log
from lakeward.protocol.messages.database import DatabaseExistsRequest
from lakeward.protocol.messages.kv import LookupRequest
from lakeward.protocol.messages.shared import PbTablePath

_RIGHTS = [one for one in Operation if one is not Operation.ANY]
#: What tells somebody that a thing is there.
_TELLING = set(_RIGHTS) - {Operation.ALL}


class Rights:
    """A server, and the numbers of its tables."""

    def __init__(self) -> None:
        self.world = PrincipalWorld()
        self.world.fill()
        cluster = WireCluster(self.world.admin, self.world.admin)
        orders, prices = (
            WireTable.find(cluster, PbTablePath(database_name="shop", table_name=name)).table_id
            for name in ("orders", "prices")
        )
        self.ids = TableIds(orders, prices)

    def refuses(self, api: Api, case: Case, client: PrincipalClient | None = None) -> bool:
        """Whether Alice is refused, with things as they always are."""
        self._put_back()
        return outcome(client or self.world.alice, api, case, self.ids)

    def _put_back(self) -> None:
        leases = self.world.server.node.roles.snapshot_leases
        leases.acquire("admins", 1 << 62, {TableBucket(self.ids.prices, None, 0): 1})
        offsets = (log.PbProducerTableOffsets(table_id=self.ids.orders, bucket_offsets=_BUCKETS),)
        self.world.admin.call(
            Api.REGISTER_PRODUCER_OFFSETS,
            log.RegisterProducerOffsetsRequest(producer_id="admins", table_offsets=offsets),
        )
        self.world.grant(GRANTED)

    def allow_only(self, *acls: Acl) -> None:
        """These rights, and no others."""
        self.world.revoke_all()
        self.world.grant(*acls, GRANTED)


_BUCKETS = (log.PbBucketOffset(bucket_id=0, log_end_offset=1),)


@pytest.fixture(scope="module")
def rights() -> Iterator[Rights]:
    """One server for all."""
    found = Rights()
    yield found
    found.world.stop()


@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_every_api_asks_for_its_right(rights: Rights, api: Api) -> None:
    """Without any right it is refused, with the one it needs it is not; an API that is not in the table fails here."""
    case = CASES[api]
    rights.allow_only()
    assert rights.refuses(api, case) is (case.right is not None)
    if case.right is not None and case.resource is not None:
        rights.allow_only(Acl(case.resource, ALICE, case.right))
        assert not rights.refuses(api, case)
    assert not rights.refuses(api, case, rights.world.admin), "a super user needs no grant"


def places(resource: Resource) -> dict[Resource, bool]:
    """Where a right may be given, and whether it then holds for the resource."""
    every = {Resource(kind, ANY_NAME): kind is resource.type for kind in ResourceType if kind is not ResourceType.ANY}
    below = {
        ResourceType.TABLE: {resource: True, SHOP: True, CLUSTER: True, Resource.table("other", "notes"): False},
        ResourceType.DATABASE: {SHOP: True, CLUSTER: True, ORDERS: False, Resource.database("other"): False},
        ResourceType.CLUSTER: {CLUSTER: True, SHOP: False, ORDERS: False},
    }[resource.type]
    return {**every, **below}


@pytest.mark.parametrize("api", [api for api in Api if CASES[api].right is not None], ids=lambda api: api.name)
def test_a_right_holds_where_it_was_given_and_below(rights: Rights, api: Api) -> None:
    """Principal × operation × resource: the operation or ALL, on the thing, all of its kind, or what it lies in."""
    case = CASES[api]
    assert case.right is not None
    assert case.resource is not None
    enough = {case.right, Operation.ALL} | (_TELLING if case.right is Operation.DESCRIBE else set())
    anywhere = api is Api.GET_FILESYSTEM_SECURITY_TOKEN
    for place, holds in places(case.resource).items():
        for operation in _RIGHTS:
            rights.allow_only(Acl(place, ALICE, operation))
            allowed = operation in enough and (holds or anywhere)
            if api in {Api.CREATE_ACLS, Api.DROP_ACLS}:
                allowed = operation is Operation.ALL and place in {SHOP, CLUSTER, Resource.database(ANY_NAME)}
            assert rights.refuses(api, case) is not allowed, f"{operation.name} on {place}"


@pytest.mark.parametrize(
    ("principal", "host", "is_allowed"),
    [
        (ALICE, ANY_NAME, True),
        (ALICE, "127.0.0.1", True),
        (ALICE, "127.0.0.2", False),
        (EVERYBODY, ANY_NAME, True),
        (Principal("*"), ANY_NAME, False),
        (Principal("Alice"), ANY_NAME, False),
        (Principal("alice", "Group"), ANY_NAME, False),
        (ADMIN, ANY_NAME, False),
    ],
    ids=str,
)
def test_a_right_is_somebodys_at_an_address(rights: Rights, principal: Principal, host: str, is_allowed: bool) -> None:
    """Names count letter by letter, a host is an address or every one; everybody is * of type *."""
    rights.allow_only(Acl(ORDERS, principal, Operation.READ, host))
    assert rights.refuses(Api.FETCH_LOG, CASES[Api.FETCH_LOG]) is not is_allowed


def test_who_logs_in_anew_has_their_own_rights(rights: Rights) -> None:
    """What was decided for one principal does not count for the next one on the same connection."""
    rights.allow_only(Acl(ORDERS, ALICE, Operation.READ))
    client = rights.world.client(ALICE)
    case = CASES[Api.FETCH_LOG]
    assert not rights.refuses(Api.FETCH_LOG, case, client)
    client.is_now(Principal("mallory"))
    assert rights.refuses(Api.FETCH_LOG, case, client)


def test_a_right_that_is_taken_back_is_gone_at_once(rights: Rights) -> None:
    """Also on a connection that used it a moment ago."""
    case = CASES[Api.PRODUCE_LOG]
    rights.allow_only(Acl(ORDERS, ALICE, Operation.WRITE))
    assert not rights.refuses(Api.PRODUCE_LOG, case)
    rights.allow_only()
    assert rights.refuses(Api.PRODUCE_LOG, case)


def test_lookups_that_insert_are_writes(rights: Rights) -> None:
    """READ is enough to look up, and not to make rows."""
    inserting = Case(
        lambda ids: LookupRequest(table_id=ids.prices, insert_if_not_exists=True, acks=-1, timeout_ms=1000),
        Operation.WRITE,
        PRICES,
    )
    rights.allow_only(Acl(PRICES, ALICE, Operation.READ))
    assert rights.refuses(Api.LOOKUP, inserting)
    rights.allow_only(Acl(PRICES, ALICE, Operation.WRITE))
    assert not rights.refuses(Api.LOOKUP, inserting)


def test_a_fetch_of_two_tables_brings_the_one_and_refuses_the_other(rights: Rights) -> None:
    """Each bucket has its own answer, and nobody waits for rows beside a refusal."""
    rights.allow_only(Acl(PRICES, ALICE, Operation.READ))
    asked = CASES[Api.FETCH_LOG].request(rights.ids)
    (orders,) = asked.tables_req
    both = log.FetchLogRequest(
        follower_server_id=-1,
        max_bytes=1000,
        tables_req=(
            orders,
            log.PbFetchLogReqForTable(
                table_id=rights.ids.prices, projection_pushdown_enabled=False, buckets_req=orders.buckets_req
            ),
        ),
        max_wait_ms=60_000,
        min_bytes=1,
    )
    answer = rights.world.alice.call(Api.FETCH_LOG, both)
    codes = {table.table_id: table.buckets_resp[0].error_code for table in answer.tables_resp}
    assert codes == {rights.ids.orders: 48, rights.ids.prices: None}


@pytest.mark.parametrize(
    "api",
    [Api.PRODUCE_LOG, Api.PUT_KV, Api.LIST_OFFSETS, Api.LIMIT_SCAN, Api.GET_TABLE_STATS, Api.LIST_KV_SNAPSHOTS],
    ids=lambda api: api.name,
)
def test_a_number_that_is_no_table_is_unknown_to_everybody(rights: Rights, api: Api) -> None:
    """21: there is nothing to have a right to."""
    assert rights.world.alice.error_code(api, CASES[api].request(TableIds(4711, 4711))) == 21


def test_who_asks_by_number_is_not_told_the_name(rights: Rights) -> None:
    """Numbers are easily guessed, and a refusal must not be a directory of tables."""
    rights.allow_only()
    request = CASES[Api.PRODUCE_LOG].request(rights.ids)
    message = rights.world.alice.frame_of(rights.world.alice.send(Api.PRODUCE_LOG, request)).error.error_message
    assert message is not None
    assert "orders" not in message
    assert "User:alice may not WRITE the table with id" in message


def test_the_default_database_is_known_to_all(rights: Rights) -> None:
    """Catalogs ask for it before anything else."""
    rights.allow_only()
    assert rights.world.alice.call(Api.DATABASE_EXISTS, DatabaseExistsRequest(database_name="fluss")).exists


def test_who_is_refused_again_and_again_is_read_more_slowly(rights: Rights) -> None:
    """Ten times a second; pyfluss asks for ever. Others, and the same user elsewhere, are served as ever."""
    rights.allow_only()
    clock, request = rights.world.clock, CASES[Api.FETCH_LOG].request(rights.ids)
    client, other = rights.world.client(ALICE), rights.world.client(ALICE)
    begun = clock.monotonic()
    for _ in range(30):
        client.call(Api.FETCH_LOG, request)
    assert clock.monotonic() - begun == pytest.approx(2.0, abs=0.3)
    begun = clock.monotonic()
    other.call(Api.FETCH_LOG, request)
    assert clock.monotonic() == begun
