"""Orders: what a coordinator says is so: UPDATE_METADATA, NOTIFY_LEADER_AND_ISR, STOP_REPLICA.

They are obeyed one after the other, in the order in which they came. What a message does not say of a table (its older
schemas; all of it, where leadership comes before metadata) is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import json_form
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo, TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import PbPartitionMetadata, PbPhysicalTablePath, PbTableMetadata
from lakeward.protocol.messages.servers import orders as messages
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import GetTableInfoRequest, GetTableSchemaRequest
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.rpc.error_answers import consent, refusal
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.catalog.learned_catalog import LearnedCatalog
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.member.coordinator import CoordinatorLink
from lakeward.server.member.known_servers import KnownServers
from lakeward.server.member.lake_offsets import LakeOffsets
from lakeward.server.member.replicas import LeaderOrder, Replicas
from lakeward.server.member.table_forms import (
    GONE_ID,
    GONE_NAME,
    GONE_PATH,
    bucket_of,
    lead_of,
    path_of,
    table_of,
)
from lakeward.server.member.told_offsets import ToldOffsets

#: What a coordinator says.
ORDERS = (
    Api.UPDATE_METADATA,
    Api.NOTIFY_LEADER_AND_ISR,
    Api.STOP_REPLICA,
    Api.NOTIFY_LAKE_TABLE_OFFSET,
    Api.NOTIFY_REMOTE_LOG_OFFSETS,
    Api.NOTIFY_KV_SNAPSHOT_OFFSET,
)
_AT_ONCE = 64


class Orders:
    """Obeys one coordinator; one that has been replaced by a newer one is refused."""

    def __init__(
        self,
        led: Leadership,
        catalog: LearnedCatalog,
        servers: KnownServers,
        replicas: Replicas,
        coordinator: CoordinatorLink,
        lake: LakeOffsets,
        told: ToldOffsets,
        look: Callable[[], Awaitable[None]],
        answer_later: Callable[[Exchange, Coroutine[Any, Any, Any]], None],
    ) -> None:
        """`look` asks for options and grants: a message about no table means that something else has changed."""
        self._lake = lake
        self._told = told
        self._look = look
        self._led = led
        self._catalog = catalog
        self._servers = servers
        self._replicas = replicas
        self._coordinator = coordinator
        self._answer_later = answer_later
        self._turn, self._asking = asyncio.Lock(), asyncio.Lock()

    def handlers(self) -> dict[Api, Handler]:
        """The functions by API."""
        return {
            Api.UPDATE_METADATA: partial(self._in_turn, self.update_metadata),
            Api.NOTIFY_LEADER_AND_ISR: partial(self._in_turn, self.notify_leaders),
            Api.STOP_REPLICA: partial(self._in_turn, self.stop_replicas),
            Api.NOTIFY_LAKE_TABLE_OFFSET: partial(self._in_turn, self._lake.notify),
            Api.NOTIFY_REMOTE_LOG_OFFSETS: partial(self._in_turn, self._told.notify_remote),
            Api.NOTIFY_KV_SNAPSHOT_OFFSET: partial(self._in_turn, self._told.notify_snapshot),
        }

    def _in_turn(self, obey: Callable[[Any], Awaitable[Any]], request: Any, exchange: Exchange) -> None:
        async def in_turn() -> Any:
            async with self._turn:
                self._check(request.coordinator_epoch)
                return await obey(request)

        self._answer_later(exchange, in_turn())

    def _check(self, epoch: int | None) -> None:
        if epoch is not None and not self._led.obey(epoch):
            raise ErrorCode.INVALID_COORDINATOR.error(
                f"A coordinator of epoch {self._led.coordinator_epoch} gives the orders here; {epoch} is older."
            )

    # -- what exists

    async def update_metadata(self, request: messages.UpdateMetadataRequest) -> messages.UpdateMetadataResponse:
        """UPDATE_METADATA: all servers, some tables and partitions."""
        self._servers.learn_servers(request.coordinator_server, request.tablet_servers)
        if not request.table_metadata and not request.partition_metadata:
            await self._look()
        for number, table in enumerate(request.table_metadata, 1):
            await self._learn_table(table)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        for number, partition in enumerate(request.partition_metadata, 1):
            self._learn_partition(partition)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        return messages.UpdateMetadataResponse()

    async def _learn_table(self, told: PbTableMetadata) -> None:
        path = path_of(told.table_path)
        if told.table_id == GONE_ID:
            there = self._catalog.table_by_path(path)
            if there is not None:
                self._forget_table(there.table_id)
            return
        if path == GONE_PATH:
            self._forget_table(told.table_id)
            return
        await self._learn(table_of(path, told))
        leads = ((one.bucket_id, lead_of(one)) for one in told.bucket_metadata)
        self._servers.learn_leads(told.table_id, None, leads)

    async def _learn(self, table: TableInfo) -> None:
        older = {}
        name = PbTablePath(database_name=table.path.database, table_name=table.path.table)
        for schema_id in self._catalog.unknown_schemas(table.table_id, table.schema_id):
            asked = GetTableSchemaRequest(table_path=name, schema_id=schema_id)
            answer = await self._coordinator.ask(Api.GET_TABLE_SCHEMA, asked)
            older[schema_id] = json_form.parse_schema(bytes(answer.schema_json))
        self._catalog.learn_table(table, older)

    def _forget_table(self, table_id: int) -> None:
        self._catalog.forget_table(table_id)
        self._servers.forget_table(table_id)

    def _learn_partition(self, told: PbPartitionMetadata) -> None:
        if told.partition_id == GONE_ID or told.partition_name == GONE_NAME:
            self._forget_partition(told)
        elif self._catalog.table_by_id(told.table_id) is not None:
            name, leads = told.partition_name, told.bucket_metadata
            self._catalog.learn_partition(PartitionInfo(told.partition_id, told.table_id, name, 0))
            self._servers.learn_leads(
                told.table_id, told.partition_id, ((one.bucket_id, lead_of(one)) for one in leads)
            )

    def _forget_partition(self, told: PbPartitionMetadata) -> None:
        by_name = self._catalog.partition_by_name(told.table_id, told.partition_name)
        partition_id = told.partition_id if by_name is None else by_name.partition_id
        self._catalog.forget_partition(partition_id)
        self._servers.forget_partition(told.table_id, partition_id)

    # -- who leads what

    async def notify_leaders(self, request: messages.NotifyLeaderAndIsrRequest) -> messages.NotifyLeaderAndIsrResponse:
        """NOTIFY_LEADER_AND_ISR: what this server leads or follows from now on, bucket by bucket."""
        asked, answers = request.notify_buckets_leader_req, []
        for first in range(0, len(asked), _AT_ONCE):  # what must be learned of some is asked at the same time
            some = (self._answer_leader(told) for told in asked[first : first + _AT_ONCE])
            answers += await asyncio.gather(*some)
        return messages.NotifyLeaderAndIsrResponse(notify_buckets_leader_resp=tuple(answers))

    async def _answer_leader(
        self, told: messages.PbNotifyLeaderAndIsrReqForBucket
    ) -> messages.PbNotifyLeaderAndIsrRespForBucket:
        kind = partial(messages.PbNotifyLeaderAndIsrRespForBucket, table_bucket=told.table_bucket)
        try:
            await self._notify_leader(told)
        except LakewardError as wrong:
            return refusal(kind, wrong)
        return consent(kind)

    async def _notify_leader(self, told: messages.PbNotifyLeaderAndIsrReqForBucket) -> None:
        bucket = bucket_of(told.table_bucket)
        async with self._asking:
            await self._find_out(told.physical_table_path, bucket)
        order = LeaderOrder.of(bucket, told)
        done = self._replicas.lead(order) if told.leader == self._led.server_id else self._replicas.follow(order)
        if done is not None:
            await done

    async def _find_out(self, path: PbPhysicalTablePath, bucket: TableBucket) -> None:
        """Learn of a bucket's table or partition, if it has not been told yet."""
        if self._catalog.bucket_exists(bucket):
            return
        name = PbTablePath(database_name=path.database_name, table_name=path.table_name)
        if self._catalog.table_by_id(bucket.table_id) is None:
            answer = await self._coordinator.ask(Api.GET_TABLE_INFO, GetTableInfoRequest(table_path=name))
            await self._learn(table_of(TablePath(path.database_name, path.table_name), answer))
        if bucket.partition_id is not None and path.partition_name is not None:
            known = PartitionInfo(bucket.partition_id, bucket.table_id, path.partition_name, 0)
            if self._catalog.table_by_id(bucket.table_id) is not None:
                self._catalog.learn_partition(known)
        if not self._catalog.bucket_exists(bucket):
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown table or bucket: {bucket}.")

    # -- what may go

    async def stop_replicas(self, request: messages.StopReplicaRequest) -> messages.StopReplicaResponse:
        """STOP_REPLICA: buckets that this server has nothing to do with any more."""
        answers = []
        for told in request.stop_replicas_req:
            kind = partial(messages.PbStopReplicaRespForBucket, table_bucket=told.table_bucket)
            try:
                done = self._replicas.stop(bucket_of(told.table_bucket), told.leader_epoch, delete=told.delete)
                if done is not None:
                    await done
                answers.append(consent(kind))
            except LakewardError as wrong:
                answers.append(refusal(kind, wrong))
        return messages.StopReplicaResponse(stop_replicas_resp=tuple(answers))
