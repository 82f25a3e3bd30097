"""The index decides as the rules on paper do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.model.acl import (
    ANY_NAME,
    CLUSTER,
    EVERYBODY,
    Acl,
    AclFilter,
    Operation,
    Permission,
    Resource,
    ResourceType,
)
from lakeward.model.principal import Principal
from lakeward.server.grants.acls.acl_index import AclIndex

RESOURCES = [
    CLUSTER,
    *(Resource(kind, ANY_NAME) for kind in (ResourceType.CLUSTER, ResourceType.DATABASE, ResourceType.TABLE)),
    *(Resource.database(name) for name in "ab"),
    *(Resource.table(database, table) for database in "ab" for table in "xy"),
]
PRINCIPALS = [EVERYBODY, *map(Principal, ("alice", "Alice", "bob", "*"))]
HOSTS = [ANY_NAME, "10.0.0.1", "::1"]
OPERATIONS = [one for one in Operation if one is not Operation.ANY]
acls = st.builds(
    Acl,
    st.sampled_from(RESOURCES),
    st.sampled_from(PRINCIPALS),
    st.sampled_from(list(Operation)),
    st.sampled_from(HOSTS),
)


def on_paper(entries: set[Acl], who: Principal, host: str, operation: Operation, what: Resource) -> bool:
    """The decision as the documentation words it, entry by entry."""
    lies_in = {what, Resource(what.type, ANY_NAME), CLUSTER}
    if what.type is ResourceType.TABLE:
        lies_in.add(Resource.database(what.name.split(".")[0]))
    enough = {operation, Operation.ALL}
    if operation is Operation.DESCRIBE:
        enough |= set(OPERATIONS)
    return any(
        acl.resource in lies_in
        and acl.principal in {who, EVERYBODY}
        and acl.host in {ANY_NAME, host}
        and acl.operation in enough
        for acl in entries
    )


@given(st.sets(acls, max_size=8), st.sets(acls, max_size=4), st.sampled_from(RESOURCES), st.sampled_from(OPERATIONS))
def test_it_decides_as_the_rules_on_paper(
    entries: set[Acl], gone: set[Acl], what: Resource, operation: Operation
) -> None:
    """For any entries, whatever was taken out again, for everybody, from everywhere."""
    index = AclIndex([*entries, *gone])
    for acl in gone:
        index.remove(acl)
    left = entries - gone
    assert (set(index), len(index)) == (left, len(left))
    for who in PRINCIPALS[1:]:
        for host in HOSTS[1:]:
            assert index.allows(who, host, operation, what) is on_paper(left, who, host, operation, what)
            somewhere = any(on_paper(left, who, host, operation, one) for one in RESOURCES)
            assert index.allows_somewhere(who, host, operation) is somewhere


def test_without_any_entry_nobody_may_anything() -> None:
    """No entry means no."""
    assert not AclIndex().allows(Principal("alice"), "10.0.0.1", Operation.DESCRIBE, CLUSTER)


def test_names_in_capitals_are_the_same_where_that_is_wished() -> None:
    """Letter by letter, as Java compares them: ß is not ss."""
    entry = Acl(CLUSTER, Principal("Straße"), Operation.READ)
    strict, lenient = AclIndex([entry]), AclIndex([entry], ignore_case=True)
    for name, is_strict, is_lenient in (("Straße", True, True), ("sTRAße", False, True), ("STRASSE", False, False)):
        assert strict.allows(Principal(name), "h", Operation.READ, CLUSTER) is is_strict
        assert lenient.allows(Principal(name), "h", Operation.READ, CLUSTER) is is_lenient
    assert not strict.allows(Principal("Straße", "user"), "h", Operation.READ, CLUSTER)
    assert lenient.allows(Principal("Straße", "user"), "h", Operation.READ, CLUSTER)


def test_an_address_is_the_same_however_it_is_written() -> None:
    """Java writes those of IPv6 out; a name of a host is compared as it is."""
    index = AclIndex([Acl(CLUSTER, EVERYBODY, Operation.READ, "0:0:0:0:0:0:0:1")])
    assert index.allows(Principal("alice"), "::1", Operation.READ, CLUSTER)
    assert not index.allows(Principal("alice"), "::2", Operation.READ, CLUSTER)
    assert not index.allows(Principal("alice"), "localhost", Operation.READ, CLUSTER)


def test_an_entry_that_allows_nothing_allows_nothing() -> None:
    """ANY is for filters; should one get in, nobody is let through by it."""
    index = AclIndex([Acl(CLUSTER, EVERYBODY, Operation.READ, permission=Permission.ANY)])
    assert not index.allows(Principal("alice"), "h", Operation.READ, CLUSTER)


@pytest.mark.parametrize(
    ("wanted", "count"),
    [(AclFilter(), 3), (AclFilter(ResourceType.DATABASE, "a"), 2), (AclFilter(ResourceType.DATABASE, "c"), 0)],
    ids=str,
)
def test_a_filter_of_one_resource_looks_at_that_one_alone(wanted: AclFilter, count: int) -> None:
    """However many others there are."""
    database = Resource.database("a")
    index = AclIndex(
        [
            Acl(database, Principal("alice"), Operation.READ),
            Acl(database, Principal("bob"), Operation.READ),
            Acl(CLUSTER, EVERYBODY, Operation.READ),
        ]
    )
    assert len(index.candidates(wanted)) == count
