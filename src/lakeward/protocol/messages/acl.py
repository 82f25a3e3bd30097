"""Grants."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, message


@message
class PbAclFilter:
    resource_name: str | None = f(1, default=None)
    resource_type: i32 = f(2)
    principal_name: str | None = f(3, default=None)
    principal_type: str | None = f(4, default=None)
    host: str | None = f(5, default=None)
    operation_type: i32 = f(6)
    permission_type: i32 = f(7)


@message
class ListAclsRequest:
    """LIST_ACLS (1040), asked."""

    acl_filter: PbAclFilter = f(1)


@message
class PbAclInfo:
    resource_name: str = f(1)
    resource_type: i32 = f(2)
    principal_name: str = f(3)
    principal_type: str = f(4)
    host: str = f(5)
    operation_type: i32 = f(6)
    permission_type: i32 = f(7)


@message
class ListAclsResponse:
    """LIST_ACLS (1040), answered."""

    acl: tuple[PbAclInfo, ...] = f(1, default=())


@message
class CreateAclsRequest:
    """CREATE_ACLS (1039), asked."""

    acl: tuple[PbAclInfo, ...] = f(1, default=())


@message
class PbCreateAclRespInfo:
    acl: PbAclInfo = f(1)
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)


@message
class CreateAclsResponse:
    """CREATE_ACLS (1039), answered."""

    acl_res: tuple[PbCreateAclRespInfo, ...] = f(1, default=())


@message
class DropAclsRequest:
    """DROP_ACLS (1041), asked."""

    acl_filter: tuple[PbAclFilter, ...] = f(1, default=())


@message
class PbDropAclsMatchingAcl:
    acl: PbAclInfo = f(1)
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)


@message
class PbDropAclsFilterResult:
    matching_acls: tuple[PbDropAclsMatchingAcl, ...] = f(1, default=())
    error_code: i32 | None = f(2, default=None)
    error_message: str | None = f(3, default=None)


@message
class DropAclsResponse:
    """DROP_ACLS (1041), answered."""

    filter_results: tuple[PbDropAclsFilterResult, ...] = f(1, default=())
