"""Resources lie in each other, and filters mean entries."""

from __future__ import annotations

import pytest

from lakeward.model.acl import ANY_NAME, CLUSTER, EVERYBODY, Acl, AclFilter, Operation, Resource, ResourceType
from lakeward.model.principal import Principal
from lakeward.model.table import TablePath

ALICE = Principal("alice")
ORDERS = Resource.of_path(TablePath("shop", "orders"))
SHOP = Resource.database("shop")
READS = Acl(ORDERS, ALICE, Operation.READ)


def test_a_table_lies_in_its_database_and_that_in_the_cluster() -> None:
    """Every resource of a kind covers that kind, and no other."""
    every_table, every_database = (Resource(kind, ANY_NAME) for kind in (ResourceType.TABLE, ResourceType.DATABASE))
    assert set(ORDERS.covered_by) == {ORDERS, every_table, SHOP, CLUSTER}
    assert set(SHOP.covered_by) == {SHOP, every_database, CLUSTER}
    assert set(CLUSTER.covered_by) == {CLUSTER, Resource(ResourceType.CLUSTER, ANY_NAME)}


def test_rights_to_a_table_are_its_databases_affair() -> None:
    """Whoever owns the database gives them out; all else is its own."""
    assert (ORDERS.owner, SHOP.owner, CLUSTER.owner) == (SHOP, SHOP, CLUSTER)
    assert Resource(ResourceType.TABLE, ANY_NAME).owner == Resource.database(ANY_NAME)


@pytest.mark.parametrize(
    ("acl", "told"),
    [
        (READS, "User:alice may READ table shop.orders"),
        (Acl(CLUSTER, EVERYBODY, Operation.DESCRIBE, "10.0.0.7"), "everybody may DESCRIBE the cluster from 10.0.0.7"),
        (Acl(Resource.database(ANY_NAME), ALICE, Operation.ALL), "User:alice may ALL every database"),
    ],
    ids=str,
)
def test_an_entry_says_what_it_allows(acl: Acl, told: str) -> None:
    """In words that a person checks."""
    assert str(acl) == told


@pytest.mark.parametrize(
    ("wanted", "is_meant"),
    [
        (AclFilter(), True),
        (AclFilter(ResourceType.TABLE), True),
        (AclFilter(ResourceType.DATABASE), False),
        (AclFilter(ResourceType.TABLE, "shop.orders"), True),
        (AclFilter(ResourceType.TABLE, "shop"), False),
        (AclFilter(ResourceType.ANY, "no such name"), True),
        (AclFilter(principal=ALICE), True),
        (AclFilter(principal=Principal("Alice")), False),
        (AclFilter(host=ANY_NAME), True),
        (AclFilter(host="10.0.0.7"), False),
        (AclFilter(operation=Operation.READ), True),
        (AclFilter(operation=Operation.ALL), False),
    ],
    ids=str,
)
def test_a_filter_leaves_open_what_it_does_not_say(wanted: AclFilter, is_meant: bool) -> None:
    """Without a type the name does not count, as Apache Fluss has it; ALL is the entry for ALL."""
    assert wanted.takes(READS) is is_meant
