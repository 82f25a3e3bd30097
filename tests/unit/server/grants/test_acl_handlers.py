"""CREATE_ACLS, LIST_ACLS and DROP_ACLS, asked over the wire of a server in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from principals import ALICE, HOST, ORDERS, SHOP, PrincipalWorld, creation, dropped, dropping

from lakeward.model.acl import ANY_NAME, CLUSTER, Acl, AclFilter, Operation, Permission, Resource, ResourceType
from lakeward.model.principal import Principal
from lakeward.protocol.acl_forms import acl_message
from lakeward.protocol.api import Api
from lakeward.protocol.messages.acl import CreateAclsRequest, DropAclsRequest, ListAclsRequest, PbAclFilter

BOB = Principal("bob")
READS = Acl(ORDERS, BOB, Operation.READ)
WRITES = Acl(ORDERS, BOB, Operation.WRITE)
OTHERS = Acl(Resource.table("other", "notes"), BOB, Operation.READ)
ALL_OF_SHOP = Acl(SHOP, ALICE, Operation.ALL)


@pytest.fixture(scope="module")
def shared() -> Iterator[PrincipalWorld]:
    """One server for all."""
    world = PrincipalWorld()
    yield world
    world.stop()


@pytest.fixture
def world(shared: PrincipalWorld) -> PrincipalWorld:
    """The server, without any grant."""
    shared.revoke_all()
    return shared


def test_each_entry_has_its_answer_in_order(world: PrincipalWorld) -> None:
    """What cannot be kept is refused by itself, and says why; the rest is kept."""
    wrong = {
        replace(READS, resource=Resource(ResourceType.TABLE, "orders")): 15,
        replace(READS, resource=Resource(ResourceType.TABLE, "shop.no name")): 15,
        replace(READS, resource=Resource.database("a.b")): 16,
        replace(READS, resource=Resource.database("")): 16,
        replace(READS, resource=Resource(ResourceType.CLUSTER, "mine")): 27,
        replace(READS, resource=Resource(ResourceType.ANY, "any")): 27,
        replace(READS, operation=Operation.ANY): 27,
        replace(READS, permission=Permission.ANY): 27,
        replace(READS, principal=Principal("")): 27,
        replace(READS, principal=Principal("b" * 256)): 27,
        replace(READS, principal=Principal("b\x1b[2J")): 27,
        replace(READS, host=""): 27,
    }
    answer = world.admin.call(Api.CREATE_ACLS, creation(READS, *wrong, WRITES, READS))
    assert [one.error_code for one in answer.acl_res] == [0, *wrong.values(), 0, 0]
    assert [one.acl for one in answer.acl_res] == [*map(acl_message, (READS, *wrong, WRITES, READS))]
    assert set(world.acls()) == {READS, WRITES}


def test_a_number_that_stands_for_nothing_refuses_the_request(world: PrincipalWorld) -> None:
    """As Apache Fluss: −1, and nothing is kept. So is 3, which might have been DENY."""
    strange = replace(acl_message(READS), permission_type=3)
    assert world.admin.error_code(Api.CREATE_ACLS, CreateAclsRequest(acl=(acl_message(WRITES), strange))) == -1
    unknown = PbAclFilter(resource_type=9, operation_type=1, permission_type=1)
    assert world.admin.error_code(Api.LIST_ACLS, ListAclsRequest(acl_filter=unknown)) == -1
    assert world.admin.error_code(Api.DROP_ACLS, DropAclsRequest(acl_filter=(unknown,))) == -1
    assert world.acls() == []


def test_who_owns_a_database_gives_rights_to_its_tables(world: PrincipalWorld) -> None:
    """ALL on it is what that takes; one resource that is not theirs refuses all of the request."""
    assert world.alice.error_code(Api.CREATE_ACLS, creation(READS)) == 48
    world.grant(ALL_OF_SHOP)
    assert world.alice.error_code(Api.CREATE_ACLS, creation(READS)) == 0
    assert world.alice.error_code(Api.CREATE_ACLS, creation(WRITES, OTHERS)) == 48
    assert world.alice.error_code(Api.CREATE_ACLS, creation(Acl(CLUSTER, ALICE, Operation.READ))) == 48
    every_table = Acl(Resource(ResourceType.TABLE, ANY_NAME), ALICE, Operation.READ)
    assert world.alice.error_code(Api.CREATE_ACLS, creation(every_table)) == 48
    assert set(world.acls()) == {ALL_OF_SHOP, READS}


def test_listed_is_what_somebody_may_know_of(world: PrincipalWorld) -> None:
    """The entries of resources that they may DESCRIBE."""
    world.grant(READS, OTHERS, ALL_OF_SHOP)
    assert set(world.acls()) == {READS, OTHERS, ALL_OF_SHOP}
    assert set(world.acls(world.alice)) == {READS, ALL_OF_SHOP}
    assert world.acls(world.client(Principal("mallory"))) == []
    assert world.acls(world.client(BOB), AclFilter(ResourceType.TABLE, ORDERS.name)) == [READS]


def test_each_filter_says_what_it_took(world: PrincipalWorld) -> None:
    """What two of them mean is the first one's; what none means stays."""
    world.grant(READS, WRITES, OTHERS)
    filters = [
        AclFilter(ResourceType.TABLE, ORDERS.name),
        AclFilter(operation=Operation.READ),
        AclFilter(host="nowhere"),
    ]
    gone = dropped(world.admin.call(Api.DROP_ACLS, dropping(*filters)))
    assert [set(one) for one in gone] == [{READS, WRITES}, {OTHERS}, set()]
    assert world.acls() == []


def test_taking_back_needs_all_on_what_is_meant(world: PrincipalWorld) -> None:
    """One entry that is not theirs refuses the request, and nothing is taken back; who means nothing may."""
    world.grant(READS, OTHERS, ALL_OF_SHOP)
    assert world.alice.error_code(Api.DROP_ACLS, dropping(AclFilter(principal=BOB))) == 48
    assert world.alice.error_code(Api.DROP_ACLS, dropping(AclFilter(host="nowhere"))) == 0
    assert set(world.acls()) == {READS, OTHERS, ALL_OF_SHOP}
    assert world.alice.error_code(Api.DROP_ACLS, dropping(AclFilter(ResourceType.TABLE, ORDERS.name))) == 0
    assert set(world.acls()) == {OTHERS, ALL_OF_SHOP}


def test_requests_are_bounded(world: PrincipalWorld) -> None:
    """A thousand filters at once, and ten thousand grants."""
    assert world.admin.error_code(Api.DROP_ACLS, dropping(*[AclFilter(host="x")] * 1000)) == 0
    assert world.admin.error_code(Api.DROP_ACLS, dropping(*[AclFilter(host="x")] * 1001)) == 27
    many = [Acl(CLUSTER, Principal(f"user-{number}"), Operation.READ) for number in range(10_001)]
    refused = world.admin.call(Api.CREATE_ACLS, creation(*many))
    assert {one.error_code for one in refused.acl_res} == {27}
    world.grant(*many[1:])
    assert len(world.acls()) == 10_000
    world.revoke_all()
    assert world.acls() == []


def test_a_right_may_be_bound_to_an_address(world: PrincipalWorld) -> None:
    """It is listed with it, and holds from there."""
    world.allow(Operation.DESCRIBE, CLUSTER, host=HOST)
    assert world.acls(world.alice) == [Acl(CLUSTER, ALICE, Operation.DESCRIBE, HOST)]
