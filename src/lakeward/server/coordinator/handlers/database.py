"""Handlers for databases."""

from __future__ import annotations

from lakeward.model import json_form
from lakeward.protocol.api import Api
from lakeward.protocol.messages import database as messages
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers
from lakeward.server.coordinator.tables.alteration import alterations_of


class DatabaseHandlers:
    """Create, alter, drop, list and describe databases."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._catalog = coordinator.catalog
        self._databases = coordinator.databases

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.CREATE_DATABASE: self.create,
            Api.ALTER_DATABASE: self.alter,
            Api.DROP_DATABASE: self.drop,
            Api.LIST_DATABASES: self.list,
            Api.DATABASE_EXISTS: self.exists,
            Api.GET_DATABASE_INFO: self.info,
        }

    def create(self, request: messages.CreateDatabaseRequest, _: Caller) -> messages.CreateDatabaseResponse:
        """CREATE_DATABASE."""
        descriptor = json_form.parse_database(request.database_json)
        self._databases.create(request.database_name, descriptor, ignore_if_exists=request.ignore_if_exists)
        return messages.CreateDatabaseResponse()

    def alter(self, request: messages.AlterDatabaseRequest, _: Caller) -> messages.AlterDatabaseResponse:
        """ALTER_DATABASE."""
        self._databases.alter(
            request.database_name,
            alterations_of(request.config_changes),
            request.comment,
            ignore_if_not_exists=request.ignore_if_not_exists,
        )
        return messages.AlterDatabaseResponse()

    def drop(self, request: messages.DropDatabaseRequest, _: Caller) -> messages.DropDatabaseResponse:
        """DROP_DATABASE."""
        self._databases.drop(
            request.database_name, ignore_if_not_exists=request.ignore_if_not_exists, cascade=request.cascade
        )
        return messages.DropDatabaseResponse()

    def list(self, request: messages.ListDatabasesRequest, _: Caller) -> messages.ListDatabasesResponse:
        """LIST_DATABASES: names, or summaries when asked for."""
        databases = self._catalog.databases()
        if not request.include_summary:
            return messages.ListDatabasesResponse(database_name=tuple(d.name for d in databases))
        return messages.ListDatabasesResponse(
            database_summary=tuple(
                messages.PbDatabaseSummary(
                    database_name=d.name, created_time=d.created_ms, table_count=self._catalog.table_count(d.name)
                )
                for d in databases
            )
        )

    def exists(self, request: messages.DatabaseExistsRequest, _: Caller) -> messages.DatabaseExistsResponse:
        """DATABASE_EXISTS."""
        return messages.DatabaseExistsResponse(exists=self._catalog.database(request.database_name) is not None)

    def info(self, request: messages.GetDatabaseInfoRequest, _: Caller) -> messages.GetDatabaseInfoResponse:
        """GET_DATABASE_INFO."""
        database = self._databases.get(request.database_name)
        return messages.GetDatabaseInfoResponse(
            database_json=json_form.dump(json_form.database_to_json(database.descriptor)),
            created_time=database.created_ms,
            modified_time=database.modified_ms,
        )
