"""Create, alter, drop and describe tables; schemas; statistics."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import PbAlterConfig, PbKeyValue, PbTablePath


@message
class GetTableSchemaRequest:
    """GET_TABLE_SCHEMA (1011), asked."""

    table_path: PbTablePath = f(1)
    schema_id: i32 | None = f(2, default=None)


@message
class GetTableSchemaResponse:
    """GET_TABLE_SCHEMA (1011), answered."""

    schema_id: i32 = f(1)
    schema_json: bytes = f(2)


@message
class CreateTableRequest:
    """CREATE_TABLE (1005), asked."""

    table_path: PbTablePath = f(1)
    table_json: bytes = f(2)
    ignore_if_exists: bool = f(3)


@message
class CreateTableResponse:
    """CREATE_TABLE (1005), answered."""


@message
class PbAddColumn:
    column_name: str = f(1)
    data_type_json: bytes = f(2)
    comment: str | None = f(3, default=None)
    column_position_type: i32 = f(4)
    agg_function_type: str | None = f(5, default=None)
    agg_function_params: tuple[PbKeyValue, ...] = f(6, default=())


@message
class PbDropColumn:
    column_name: str = f(1)


@message
class PbRenameColumn:
    old_column_name: str = f(1)
    new_column_name: str = f(2)


@message
class PbModifyColumn:
    column_name: str = f(1)
    data_type_json: bytes | None = f(2, default=None)
    comment: str | None = f(3, default=None)
    column_position_type: i32 | None = f(4, default=None)


@message
class AlterTableRequest:
    """ALTER_TABLE (1044), asked."""

    table_path: PbTablePath = f(1)
    ignore_if_not_exists: bool = f(2)
    config_changes: tuple[PbAlterConfig, ...] = f(3, default=())
    add_columns: tuple[PbAddColumn, ...] = f(4, default=())
    drop_columns: tuple[PbDropColumn, ...] = f(5, default=())
    rename_columns: tuple[PbRenameColumn, ...] = f(6, default=())
    modify_columns: tuple[PbModifyColumn, ...] = f(7, default=())


@message
class AlterTableResponse:
    """ALTER_TABLE (1044), answered."""


@message
class GetTableInfoRequest:
    """GET_TABLE_INFO (1007), asked."""

    table_path: PbTablePath = f(1)


@message
class GetTableInfoResponse:
    """GET_TABLE_INFO (1007), answered."""

    table_id: i64 = f(1)
    schema_id: i32 = f(2)
    table_json: bytes = f(3)
    created_time: i64 = f(4)
    modified_time: i64 = f(5)
    remote_data_dir: str | None = f(6, default=None)


@message
class ListTablesRequest:
    """LIST_TABLES (1008), asked."""

    database_name: str = f(1)


@message
class ListTablesResponse:
    """LIST_TABLES (1008), answered."""

    table_name: tuple[str, ...] = f(1, default=())


@message
class DropTableRequest:
    """DROP_TABLE (1006), asked."""

    table_path: PbTablePath = f(1)
    ignore_if_not_exists: bool = f(2)


@message
class DropTableResponse:
    """DROP_TABLE (1006), answered."""


@message
class TableExistsRequest:
    """TABLE_EXISTS (1010), asked."""

    table_path: PbTablePath = f(1)


@message
class TableExistsResponse:
    """TABLE_EXISTS (1010), answered."""

    exists: bool = f(1)


@message
class PbTableStatsReqForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)


@message
class GetTableStatsRequest:
    """GET_TABLE_STATS (1059), asked."""

    table_id: i64 = f(1)
    buckets_req: tuple[PbTableStatsReqForBucket, ...] = f(2, default=())
    target_columns: tuple[i32, ...] = f(3, default=(), packed=True)


@message
class PbTableStatsRespForBucket:
    error_code: i32 | None = f(1, default=None)
    error_message: str | None = f(2, default=None)
    partition_id: i64 | None = f(3, default=None)
    bucket_id: i32 = f(4)
    row_count: i64 | None = f(5, default=None)


@message
class GetTableStatsResponse:
    """GET_TABLE_STATS (1059), answered."""

    buckets_resp: tuple[PbTableStatsRespForBucket, ...] = f(1, default=())
