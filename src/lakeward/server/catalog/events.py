"""What happened to the catalog, told to whoever listens, after it is durable."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.server.catalog.partition import PartitionInfo


@dataclass(frozen=True, slots=True)
class TableCreated:
    """A table is there."""

    table: TableInfo


@dataclass(frozen=True, slots=True)
class TableAltered:
    """A table has other properties or another schema."""

    before: TableInfo
    table: TableInfo


@dataclass(frozen=True, slots=True)
class TableDropped:
    """A table is gone, with the partitions it had."""

    table: TableInfo
    partitions: tuple[PartitionInfo, ...]

    @property
    def buckets(self) -> tuple[TableBucket, ...]:
        """Every bucket whose data can go."""
        if not self.table.descriptor.is_partitioned:
            return buckets_of(self.table, None)
        return tuple(bucket for partition in self.partitions for bucket in buckets_of(self.table, partition))


@dataclass(frozen=True, slots=True)
class PartitionCreated:
    """A partition is there."""

    table: TableInfo
    partition: PartitionInfo


@dataclass(frozen=True, slots=True)
class PartitionDropped:
    """A partition is gone."""

    table: TableInfo
    partition: PartitionInfo

    @property
    def buckets(self) -> tuple[TableBucket, ...]:
        """Every bucket whose data can go."""
        return buckets_of(self.table, self.partition)


Event = TableCreated | TableAltered | TableDropped | PartitionCreated | PartitionDropped
Dropped = TableDropped | PartitionDropped


def buckets_of(table: TableInfo, partition: PartitionInfo | None) -> tuple[TableBucket, ...]:
    """The buckets of a table without partitions, or of one partition."""
    partition_id = None if partition is None else partition.partition_id
    return tuple(TableBucket(table.table_id, partition_id, bucket) for bucket in range(table.bucket_count))
