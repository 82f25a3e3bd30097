"""ClusterRoles: a tablet server of a cluster whose buckets have replicas on several servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.options.server import REPLICA_MARK_INTERVAL
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import InitWriterRequest, InitWriterResponse
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.replica.cluster_commits import ClusterCommits
from lakeward.server.replica.cluster_replicas import ClusterParts, ClusterReplicas
from lakeward.server.replica.marks import MarksFile
from lakeward.server.replica.seat import ClusterPeers, Seat, fetch_settings, replica_settings
from lakeward.server.role_parts import RoleParts
from lakeward.server.tablet.table_changes import TableChanges
from lakeward.server.tablet_roles import Membership, TabletRoles
from lakeward.server.whereabouts.cluster_map import Door
from lakeward.server.zookeeper.nodes import WRITER_ID, auto_increment_path


class ClusterRoles(TabletRoles):
    """Leads and follows; numbers that must be the only ones of their kind come from the cluster."""

    is_shared = True

    def __init__(self, parts: RoleParts, member: Membership, seat: Seat) -> None:
        self._seat = seat
        self.replicas: ClusterReplicas | None = None
        super().__init__(parts, member)

    def _replicas(self, changes: TableChanges) -> ClusterReplicas:
        seat, ground, options = self._seat, self._parts.ground, self._parts.options
        server_id = self._member.server_id
        peers = ClusterPeers(seat.pool, self.servers, seat.coordinator, seat.listener)
        parts = ClusterParts(
            loop=self._parts.loop,
            tablets=self.tablets,
            changes=changes,
            led=self.led,
            peers=peers,
            clock=ground.clock,
            marks=MarksFile(ground.directory.disk, ground.directory.root, ground.disk.later),
            mark_interval_ms=options.get(REPLICA_MARK_INTERVAL),
            settle=ground.disk.settle,
            is_alive=peers.is_alive,
            coordinator_epoch=lambda: max(self.led.coordinator_epoch, 0),
            learn=self._learn,
            let_go=self._let_go,
        )
        self.replicas = ClusterReplicas(parts, replica_settings(options, server_id), fetch_settings(options, server_id))
        return self.replicas

    def _commits(self) -> ClusterCommits:
        """The cluster's ZooKeeper names what counts."""
        return ClusterCommits(self._seat.nodes, self._seat.numbers)

    def _let_go(self, bucket: TableBucket) -> None:
        if self.remote is not None:
            self.remote.let_go(bucket)

    def _reserve_ids(self) -> Callable[[int, int], int]:
        return self._take_row_numbers

    def _take_row_numbers(self, table_id: int, count: int) -> int:
        """Numbers of an auto-increment column, which all servers of the cluster share."""
        table = self.catalog.table_by_id(table_id)
        assert table is not None
        schema, path = table.schema, table.path
        column_id = next(one.id for one in schema.columns if one.name in schema.auto_increment)
        return self._seat.numbers.take_number_now(auto_increment_path(path.database, path.table, column_id), count)

    def when_told(self, handlers: dict[Api, Handler]) -> dict[Api, Handler]:
        """Nobody waits to be told: the coordinator of such a cluster is asked."""
        return handlers

    def tick(self) -> None:
        """Look after the replicas."""
        if self.replicas is not None:
            self.replicas.look()

    async def close(self) -> None:
        """Follow nobody any more."""
        if self.replicas is not None:
            await self.replicas.close()

    def handlers(self) -> dict[Api, Handler]:
        """One handler per API."""
        mine = super().handlers()
        metadata, answer_later = mine[Api.GET_METADATA], self.tablets.busy.answer_later

        def init_writer(_: InitWriterRequest, exchange: Exchange) -> None:
            answer_later(exchange, new_writer())

        async def new_writer() -> InitWriterResponse:
            return InitWriterResponse(writer_id=await self._seat.numbers.take_number(WRITER_ID))

        def ask_first(request: Any, exchange: Exchange) -> None:
            answer_later(exchange, newest_metadata(request, exchange))

        async def newest_metadata(request: Any, exchange: Exchange) -> Any:
            try:  # a server that has just come knows of few tables, and the coordinator of all
                answer = await self._member.coordinator.ask(Api.GET_METADATA, request)
            except LakewardError as wrong:
                if wrong.code is not ErrorCode.NETWORK:
                    raise
                return metadata(request, exchange)
            client = exchange.connection
            if client.listener == self._seat.listener:
                return answer
            return self.servers.with_addresses(answer, Door(client.listener, *client.told_address))

        return {**mine, Api.INIT_WRITER: init_writer, Api.GET_METADATA: ask_first}
