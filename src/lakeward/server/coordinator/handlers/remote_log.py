"""Handlers for the remote log: where its manifests are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages import snapshot as messages
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers

#: The manifests of a table, or of one of its partitions.
ManifestsOf = Callable[[int, int | None], Iterable[messages.PbRemoteLogManifestEntry]]


class RemoteLogHandlers:
    """What was copied elsewhere."""

    def __init__(self, catalog: Catalog, manifests_of: ManifestsOf) -> None:
        self._catalog = catalog
        self._manifests_of = manifests_of

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {Api.LIST_REMOTE_LOG_MANIFESTS: self.list_remote_log_manifests}

    def list_remote_log_manifests(
        self, request: messages.ListRemoteLogManifestsRequest, _: Caller
    ) -> messages.ListRemoteLogManifestsResponse:
        """LIST_REMOTE_LOG_MANIFESTS."""
        self._check_by_id(request.table_id, request.partition_id)
        manifests = self._manifests_of(request.table_id, request.partition_id)
        return messages.ListRemoteLogManifestsResponse(manifests=tuple(manifests))

    def _check_by_id(self, table_id: int, partition_id: int | None) -> None:
        if self._catalog.table_by_id(table_id) is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no table with id {table_id}.")
        if partition_id is None:
            return
        partition = self._catalog.partition_by_id(partition_id)
        if partition is None or partition.table_id != table_id:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(f"Table {table_id} has no partition with id {partition_id}.")
