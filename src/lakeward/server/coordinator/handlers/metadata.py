"""Handlers for what a client asks before it reads or writes: servers, leaders, writer ids, health."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import lru_cache

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.codec.wire import LENGTH, write_varint
from lakeward.protocol.messages import log as log_messages
from lakeward.protocol.messages import metadata as messages
from lakeward.protocol.messages.packed_metadata import PackedMetadataResponse
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.rpc.dispatch import at_once
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.coordinator.coordinator import TABLET_SERVER_ID, Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers, path_of

#: One process plays both roles; clients tell them apart by role, not by number.
COORDINATOR_ID = 0
_LEADER_EPOCH = 0
_GREEN = 0
#: So many tables and partitions are described without a break.
_AT_ONCE = 32
_TABLE_BUCKETS, _PARTITION_BUCKETS = 5, 4


class MetadataHandlers:
    """Where things are."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._catalog = coordinator.catalog

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
        steps = self._describe(request, caller)
        if len(request.table_path) + len(request.partitions_path) + len(request.partitions_id) > _AT_ONCE:
            return steps
        return at_once(steps)

    def _describe(
        self, request: messages.MetadataRequest, caller: Caller
    ) -> Generator[None, None, PackedMetadataResponse]:
        tables: dict[TablePath, bytes] = {}
        partitions: dict[int, bytes] = {}
        for number, asked in enumerate(request.table_path, 1):
            path = path_of(asked)
            if path not in tables:
                tables[path] = self._table(self._coordinator.tables.get(path))
            if number % _AT_ONCE == 0:
                yield
        for number, partition in enumerate(self._asked_partitions(request), 1):
            if partition.partition_id not in partitions:
                partitions[partition.partition_id] = self._partition(partition)
            if number % _AT_ONCE == 0:
                yield
        host, port = caller.host, caller.port
        return PackedMetadataResponse(
            coordinator_server=messages.PbServerNode(node_id=COORDINATOR_ID, host=host, port=port),
            tablet_servers=(messages.PbServerNode(node_id=TABLET_SERVER_ID, host=host, port=port),),
            table_metadata=tuple(tables.values()),
            partition_metadata=tuple(partitions.values()),
        )

    def init_writer(self, _: log_messages.InitWriterRequest, __: Caller) -> log_messages.InitWriterResponse:
        """INIT_WRITER: an id that no writer ever had."""
        return log_messages.InitWriterResponse(writer_id=self._coordinator.writer_ids.take())

    def health(self, _: messages.GetClusterHealthRequest, __: Caller) -> messages.GetClusterHealthResponse:
        """GET_CLUSTER_HEALTH: every bucket has its one replica here."""
        count = sum(self._bucket_count(table) for table in self._catalog.tables())
        return messages.GetClusterHealthResponse(
            num_replicas=count,
            in_sync_replicas=count,
            num_leader_replicas=count,
            active_leader_replicas=count,
            status=_GREEN,
        )

    def _bucket_count(self, table: TableInfo) -> int:
        if not table.descriptor.is_partitioned:
            return table.bucket_count
        return table.bucket_count * len(self._catalog.partitions_of(table.table_id))

    def _asked_partitions(self, request: messages.MetadataRequest) -> Iterator[PartitionInfo]:
        for asked in request.partitions_path:
            if asked.partition_name is None:
                continue  # clients ask so for tables without partitions; there is nothing to answer
            path = TablePath(asked.database_name, asked.table_name)
            table = self._catalog.table_by_path(path)
            found = None if table is None else self._catalog.partition_by_name(table.table_id, asked.partition_name)
            if found is None:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(
                    f"Table partition '{path!s:.400}(p={asked.partition_name[:200]})' does not exist."
                )
            yield found
        for partition_id in request.partitions_id:
            by_id = self._catalog.partition_by_id(partition_id)
            if by_id is None:
                raise ErrorCode.PARTITION_NOT_EXISTS.error(f"The partition id '{partition_id}' does not exist.")
            yield by_id

    def _table(self, table: TableInfo) -> bytes:
        partitioned = table.descriptor.is_partitioned
        described = messages.PbTableMetadata(
            table_path=PbTablePath(database_name=table.path.database, table_name=table.path.table),
            table_id=table.table_id,
            schema_id=table.schema_id,
            table_json=self._catalog.table_json(table.table_id),
            created_time=table.created_ms,
            modified_time=table.modified_ms,
            remote_data_dir=self._coordinator.remote_data_dir(table),
        )
        return encode(described) + (b"" if partitioned else _buckets(table.bucket_count, _TABLE_BUCKETS))

    def _partition(self, partition: PartitionInfo) -> bytes:
        table = self._catalog.table_by_id(partition.table_id)
        assert table is not None
        described = messages.PbPartitionMetadata(
            table_id=partition.table_id, partition_name=partition.name, partition_id=partition.partition_id
        )
        return encode(described) + _buckets(table.bucket_count, _PARTITION_BUCKETS)


@lru_cache(256)
def _buckets(count: int, field: int) -> bytes:
    """So many buckets as a repeated field: all of them are led from here."""
    pieces = []
    for bucket in range(count):
        one = encode(
            messages.PbBucketMetadata(
                bucket_id=bucket,
                leader_id=TABLET_SERVER_ID,
                replica_id=(TABLET_SERVER_ID,),
                leader_epoch=_LEADER_EPOCH,
            )
        )
        pieces.append(write_varint(field << 3 | LENGTH) + write_varint(len(one)) + one)
    return b"".join(pieces)
