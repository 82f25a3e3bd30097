"""MetadataAnswers: GET_METADATA, which clients ask before they read or write."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import lru_cache

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath
from lakeward.protocol.codec import encode
from lakeward.protocol.codec.wire import LENGTH, write_varint
from lakeward.protocol.messages import metadata as messages
from lakeward.protocol.messages.packed_metadata import PackedMetadataResponse
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.rpc.dispatch import at_once
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.whereabouts.cluster_map import ClusterMap, Door, Lead

#: So many tables and partitions are described without a break.
_AT_ONCE = 32
_TABLE_BUCKETS, _PARTITION_BUCKETS = 5, 4


class MetadataAnswers:
    """Tells where tables and partitions are."""

    def __init__(self, catalog: Catalog, cluster: ClusterMap, remote_data_dir: Callable[[TableInfo], str]) -> None:
        self._catalog = catalog
        self._cluster = cluster
        self._remote_data_dir = remote_data_dir

    def answer(
        self, request: messages.MetadataRequest, door: Door
    ) -> PackedMetadataResponse | Generator[None, None, PackedMetadataResponse]:
        """GET_METADATA: the servers always, tables and partitions as asked for."""
        steps = self._describe(request, door)
        if len(request.table_path) + len(request.partitions_path) + len(request.partitions_id) > _AT_ONCE:
            return steps
        return at_once(steps)

    def _describe(self, request: messages.MetadataRequest, door: Door) -> Generator[None, None, PackedMetadataResponse]:
        tables: dict[TablePath, bytes] = {}
        partitions: dict[int, bytes] = {}
        for number, asked in enumerate(request.table_path, 1):
            path = TablePath(asked.database_name, asked.table_name)
            if path not in tables:
                tables[path] = self.table(self._find(path))
            if number % _AT_ONCE == 0:
                yield
        for number, partition in enumerate(self._asked_partitions(request), 1):
            if partition.partition_id not in partitions:
                partitions[partition.partition_id] = self.partition(partition)
            if number % _AT_ONCE == 0:
                yield
        servers = self._cluster.servers(door)
        return PackedMetadataResponse(
            coordinator_server=servers.coordinator,
            tablet_servers=servers.tablets,
            table_metadata=tuple(tables.values()),
            partition_metadata=tuple(partitions.values()),
        )

    def _find(self, path: TablePath) -> TableInfo:
        table = self._catalog.table_by_path(path)
        if table is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"Table '{path!s:.400}' does not exist.")
        return table

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

    def table(self, table: TableInfo) -> bytes:
        """An encoded PbTableMetadata."""
        described = messages.PbTableMetadata(
            table_path=PbTablePath(database_name=table.path.database, table_name=table.path.table),
            table_id=table.table_id,
            schema_id=table.schema_id,
            table_json=self._catalog.table_json(table.table_id),
            created_time=table.created_ms,
            modified_time=table.modified_ms,
            remote_data_dir=self._remote_data_dir(table),
        )
        if table.descriptor.is_partitioned:
            return encode(described)
        return encode(described) + _buckets(
            self._cluster.leads(table.table_id, None, table.bucket_count), _TABLE_BUCKETS
        )

    def partition(self, partition: PartitionInfo) -> bytes:
        """An encoded PbPartitionMetadata."""
        table = self._catalog.table_by_id(partition.table_id)
        assert table is not None
        described = messages.PbPartitionMetadata(
            table_id=partition.table_id, partition_name=partition.name, partition_id=partition.partition_id
        )
        leads = self._cluster.leads(partition.table_id, partition.partition_id, table.bucket_count)
        return encode(described) + _buckets(leads, _PARTITION_BUCKETS)


@lru_cache(256)
def _buckets(leads: tuple[Lead, ...], field: int) -> bytes:
    """Buckets as a repeated field."""
    pieces = []
    for bucket, lead in enumerate(leads):
        one = encode(
            messages.PbBucketMetadata(
                bucket_id=bucket,
                leader_id=lead.server_id,
                replica_id=lead.replicas,
                leader_epoch=lead.epoch,
            )
        )
        pieces.append(write_varint(field << 3 | LENGTH) + write_varint(len(one)) + one)
    return b"".join(pieces)
