"""Grants and filters of grants ↔ their messages."""

from __future__ import annotations

from typing import TypeVar

from lakeward.errors import ErrorCode
from lakeward.model.acl import Acl, AclFilter, Operation, Permission, Resource, ResourceType
from lakeward.model.principal import Principal
from lakeward.protocol.messages.acl import PbAclFilter, PbAclInfo

_Kind = TypeVar("_Kind", ResourceType, Operation, Permission)


def acl_message(acl: Acl) -> PbAclInfo:
    """An entry on the wire."""
    return PbAclInfo(
        resource_name=acl.resource.name,
        resource_type=acl.resource.type,
        principal_name=acl.principal.name,
        principal_type=acl.principal.type,
        host=acl.host,
        operation_type=acl.operation,
        permission_type=acl.permission,
    )


def acl_of(info: PbAclInfo) -> Acl:
    """An entry from the wire; a number that stands for nothing is an error."""
    return Acl(
        Resource(_kind(ResourceType, info.resource_type), info.resource_name),
        Principal(info.principal_name, info.principal_type),
        _kind(Operation, info.operation_type),
        info.host,
        _kind(Permission, info.permission_type),
    )


def filter_message(wanted: AclFilter) -> PbAclFilter:
    """A filter on the wire."""
    return PbAclFilter(
        resource_name=wanted.resource_name,
        resource_type=wanted.resource_type,
        principal_name=None if wanted.principal is None else wanted.principal.name,
        principal_type=None if wanted.principal is None else wanted.principal.type,
        host=wanted.host,
        operation_type=wanted.operation,
        permission_type=wanted.permission,
    )


def filter_of(message: PbAclFilter) -> AclFilter:
    """A filter from the wire; a principal counts if both its name and its type are there."""
    name, kind = message.principal_name, message.principal_type
    return AclFilter(
        _kind(ResourceType, message.resource_type),
        message.resource_name,
        None if name is None or kind is None else Principal(name, kind),
        message.host,
        _kind(Operation, message.operation_type),
        _kind(Permission, message.permission_type),
    )


def _kind(kinds: type[_Kind], number: int) -> _Kind:
    try:
        return kinds(number)
    except ValueError as wrong:
        there = ", ".join(f"{one.value} {one.name}" for one in kinds)
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
            f"There is no {kinds.__name__} {number}; there are {there}."
        ) from wrong
