"""Handlers for what a client asks before it reads or writes: servers, leaders, writer ids, health."""

from __future__ import annotations

from collections.abc import Generator

from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages import log as log_messages
from lakeward.protocol.messages import metadata as messages
from lakeward.protocol.messages.packed_metadata import PackedMetadataResponse
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers
from lakeward.server.whereabouts.cluster_map import Lead
from lakeward.server.whereabouts.metadata_answers import MetadataAnswers

_GREEN, _RED = 0, 2


class MetadataHandlers:
    """Where things are."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._catalog = coordinator.catalog
        self._answers = MetadataAnswers(coordinator.catalog, coordinator.cluster, coordinator.remote_data_dir)

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.GET_METADATA: self.metadata,
            Api.INIT_WRITER: self.init_writer,
            Api.GET_CLUSTER_HEALTH: self.health,
        }

    def metadata(
        self, request: messages.MetadataRequest, caller: Caller
    ) -> PackedMetadataResponse | Generator[None, None, PackedMetadataResponse]:
        """GET_METADATA: the servers always, tables and partitions as asked for."""
        return self._answers.answer(request, caller.door)

    def init_writer(self, _: log_messages.InitWriterRequest, __: Caller) -> log_messages.InitWriterResponse:
        """INIT_WRITER: an id that no writer ever had."""
        return log_messages.InitWriterResponse(writer_id=self._coordinator.writer_ids.take())

    def health(self, _: messages.GetClusterHealthRequest, __: Caller) -> messages.GetClusterHealthResponse:
        """GET_CLUSTER_HEALTH: every bucket has one replica; it is away while its server is."""
        leads = [lead.server_id for table in self._catalog.tables() for lead in self._leads(table)]
        active = len(leads) - leads.count(None)
        return messages.GetClusterHealthResponse(
            num_replicas=len(leads),
            in_sync_replicas=active,
            num_leader_replicas=len(leads),
            active_leader_replicas=active,
            status=_GREEN if active == len(leads) else _RED,
        )

    def _leads(self, table: TableInfo) -> list[Lead]:
        partitions = (
            [one.partition_id for one in self._catalog.partitions_of(table.table_id)]
            if table.descriptor.is_partitioned
            else [None]
        )
        leads = self._coordinator.cluster.leads
        return [lead for one in partitions for lead in leads(table.table_id, one, table.bucket_count)]
