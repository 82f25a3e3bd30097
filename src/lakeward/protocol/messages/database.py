"""Create, alter, drop, list and describe databases."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import PbAlterConfig


@message
class CreateDatabaseRequest:
    """CREATE_DATABASE (1001), asked."""

    database_name: str = f(1)
    ignore_if_exists: bool = f(2)
    database_json: bytes | None = f(3, default=None)


@message
class CreateDatabaseResponse:
    """CREATE_DATABASE (1001), answered."""


@message
class AlterDatabaseRequest:
    """ALTER_DATABASE (1060), asked."""

    database_name: str = f(1)
    ignore_if_not_exists: bool = f(2)
    config_changes: tuple[PbAlterConfig, ...] = f(3, default=())
    comment: str | None = f(4, default=None)


@message
class AlterDatabaseResponse:
    """ALTER_DATABASE (1060), answered."""


@message
class GetDatabaseInfoRequest:
    """GET_DATABASE_INFO (1035), asked."""

    database_name: str = f(1)


@message
class GetDatabaseInfoResponse:
    """GET_DATABASE_INFO (1035), answered."""

    database_json: bytes = f(3)
    created_time: i64 = f(4)
    modified_time: i64 = f(5)


@message
class DropDatabaseRequest:
    """DROP_DATABASE (1002), asked."""

    database_name: str = f(1)
    ignore_if_not_exists: bool = f(2)
    cascade: bool = f(3)


@message
class DropDatabaseResponse:
    """DROP_DATABASE (1002), answered."""


@message
class DatabaseExistsRequest:
    """DATABASE_EXISTS (1004), asked."""

    database_name: str = f(1)


@message
class DatabaseExistsResponse:
    """DATABASE_EXISTS (1004), answered."""

    exists: bool = f(1)


@message
class ListDatabasesRequest:
    """LIST_DATABASES (1003), asked."""

    include_summary: bool | None = f(1, default=None)


@message
class PbDatabaseSummary:
    database_name: str = f(1)
    created_time: i64 = f(2)
    table_count: i32 = f(3)


@message
class ListDatabasesResponse:
    """LIST_DATABASES (1003), answered."""

    database_name: tuple[str, ...] = f(1, default=())
    database_summary: tuple[PbDatabaseSummary, ...] = f(2, default=())
