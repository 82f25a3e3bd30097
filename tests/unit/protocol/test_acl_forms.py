"""Grants on the wire, by the numbers of Apache Fluss."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import CLUSTER, EVERYBODY, Acl, AclFilter, Operation, Permission, Resource, ResourceType
from lakeward.model.principal import Principal
from lakeward.protocol.acl_forms import acl_message, acl_of, filter_message, filter_of
from lakeward.protocol.messages.acl import PbAclFilter, PbAclInfo

ON_WIRE = PbAclInfo(
    resource_name="shop.orders",
    resource_type=4,
    principal_name="alice",
    principal_type="User",
    host="*",
    operation_type=3,
    permission_type=2,
)


def test_an_entry_has_the_numbers_of_the_wire() -> None:
    """TABLE 4, READ 3, ALLOW 2."""
    acl = Acl(Resource.table("shop", "orders"), Principal("alice"), Operation.READ)
    assert acl_message(acl) == ON_WIRE
    assert acl_of(ON_WIRE) == acl


@pytest.mark.parametrize(
    "wanted",
    [
        AclFilter(),
        AclFilter(ResourceType.CLUSTER, CLUSTER.name, EVERYBODY, "10.0.0.7", Operation.ALL, Permission.ALLOW),
    ],
)
def test_filters_come_back_as_they_went(wanted: AclFilter) -> None:
    """Open or closed."""
    assert filter_of(filter_message(wanted)) == wanted


def test_half_a_principal_is_none() -> None:
    """A name without its type does not count."""
    half = PbAclFilter(resource_type=1, principal_name="alice", operation_type=1, permission_type=1)
    assert filter_of(half) == AclFilter()


@pytest.mark.parametrize("number", [0, 3, 9, -1, 2**31 - 1])
def test_a_number_that_stands_for_nothing_is_an_error(number: int) -> None:
    """There is no DENY, whatever number somebody tries for it."""
    unknown = PbAclFilter(resource_type=1, operation_type=1, permission_type=number)
    with pytest.raises(LakewardError, match="1 ANY, 2 ALLOW") as refused:
        filter_of(unknown)
    assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
