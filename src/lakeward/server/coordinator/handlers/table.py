"""Handlers for tables and schemas."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model import json_form
from lakeward.model.schema import AGGREGATE_FUNCTIONS, Aggregate, Column
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages import table as messages
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers, path_of
from lakeward.server.coordinator.tables.alteration import alterations_of

_LAST = 0


class TableHandlers:
    """Create, alter, drop, list and describe tables."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._catalog = coordinator.catalog
        self._tables = coordinator.tables

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.CREATE_TABLE: self.create,
            Api.ALTER_TABLE: self.alter,
            Api.DROP_TABLE: self.drop,
            Api.LIST_TABLES: self.list,
            Api.TABLE_EXISTS: self.exists,
            Api.GET_TABLE_INFO: self.info,
            Api.GET_TABLE_SCHEMA: self.schema,
        }

    def create(self, request: messages.CreateTableRequest, _: Caller) -> messages.CreateTableResponse:
        """CREATE_TABLE."""
        self._tables.create(path_of(request.table_path), request.table_json, ignore_if_exists=request.ignore_if_exists)
        return messages.CreateTableResponse()

    def alter(self, request: messages.AlterTableRequest, _: Caller) -> messages.AlterTableResponse:
        """ALTER_TABLE: either properties or columns."""
        path = path_of(request.table_path)
        path.check()
        _check_supported(request, path)
        if self._catalog.table_by_path(path) is None and request.ignore_if_not_exists:
            return messages.AlterTableResponse()
        if request.add_columns:
            self._tables.add_columns(path, [_column_of(added) for added in request.add_columns])
        else:
            self._tables.alter_properties(path, alterations_of(request.config_changes))
        return messages.AlterTableResponse()

    def drop(self, request: messages.DropTableRequest, _: Caller) -> messages.DropTableResponse:
        """DROP_TABLE."""
        self._tables.drop(path_of(request.table_path), ignore_if_not_exists=request.ignore_if_not_exists)
        return messages.DropTableResponse()

    def list(self, request: messages.ListTablesRequest, _: Caller) -> messages.ListTablesResponse:
        """LIST_TABLES."""
        self._coordinator.databases.get(request.database_name)
        tables = self._catalog.tables_of(request.database_name)
        return messages.ListTablesResponse(table_name=tuple(table.path.table for table in tables))

    def exists(self, request: messages.TableExistsRequest, _: Caller) -> messages.TableExistsResponse:
        """TABLE_EXISTS."""
        table = self._catalog.table_by_path(path_of(request.table_path))
        return messages.TableExistsResponse(exists=table is not None)

    def info(self, request: messages.GetTableInfoRequest, _: Caller) -> messages.GetTableInfoResponse:
        """GET_TABLE_INFO: the descriptor with its latest schema and every default that was filled in."""
        table = self._tables.get(path_of(request.table_path))
        return messages.GetTableInfoResponse(
            table_id=table.table_id,
            schema_id=table.schema_id,
            table_json=self._catalog.table_json(table.table_id),
            created_time=table.created_ms,
            modified_time=table.modified_ms,
            remote_data_dir=self._coordinator.remote_data_dir(table),
        )

    def schema(self, request: messages.GetTableSchemaRequest, _: Caller) -> messages.GetTableSchemaResponse:
        """GET_TABLE_SCHEMA: the latest, or one the table had.

        No table, no schema, says Apache Fluss. Whoever asks for the schema of a batch hears that the table is gone, so
        that they do not try again for ever.
        """
        path = path_of(request.table_path)
        if request.schema_id is None and self._catalog.table_by_path(path) is None:
            raise ErrorCode.SCHEMA_NOT_EXIST.error(f"Table '{path!s:.400}' does not exist, hence no schema of it.")
        table = self._tables.get(path)
        schema_id = table.schema_id if request.schema_id is None else request.schema_id
        schema = self._catalog.schema(table.table_id, schema_id)
        if schema is None:
            raise ErrorCode.SCHEMA_NOT_EXIST.error(f"Table {table.path} has no schema {schema_id}.")
        return messages.GetTableSchemaResponse(
            schema_id=schema_id, schema_json=json_form.dump(json_form.schema_to_json(schema))
        )


def _check_supported(request: messages.AlterTableRequest, path: TablePath) -> None:
    changes_columns = bool(
        request.add_columns or request.drop_columns or request.rename_columns or request.modify_columns
    )
    if changes_columns and request.config_changes:
        raise ErrorCode.INVALID_ALTER_TABLE.error(
            f"Properties and columns of table {path} cannot be altered in one request; send two."
        )
    for what, asked in (
        ("drop", request.drop_columns),
        ("rename", request.rename_columns),
        ("modify", request.modify_columns),
    ):
        if asked:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Not support {what} column now. Table {path} can only be given more columns."
            )
    for added in request.add_columns:
        if added.column_position_type != _LAST:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Column {added.column_name[:200]} of table {path} can be added at the end only."
            )


def _column_of(added: messages.PbAddColumn) -> Column:
    if not added.column_name:
        raise ErrorCode.INVALID_TABLE.error("A column needs a name.")
    aggregate = None
    if added.agg_function_type is not None:
        function = added.agg_function_type.lower().replace("-", "_")
        if function not in AGGREGATE_FUNCTIONS:
            raise ErrorCode.INVALID_CONFIG.error(
                f"There is no aggregation function '{added.agg_function_type[:200]}';"
                f" there are {', '.join(sorted(AGGREGATE_FUNCTIONS))}."
            )
        aggregate = Aggregate(function, tuple((pair.key, pair.value) for pair in added.agg_function_params))
    type_ = json_form.parse_type(added.data_type_json)
    return Column(added.column_name, type_, comment=added.comment, aggregate=aggregate)
