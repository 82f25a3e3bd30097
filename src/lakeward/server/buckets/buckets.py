"""Buckets: which buckets there are, and where their files lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.buckets.replication import Alone, Replication
from lakeward.server.catalog.catalog import Catalog
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.log.log_facts import LogFacts, read_facts
from lakeward.storage.log.log_tablet import Later


class Buckets:
    """The catalog by bucket, and the data directory by bucket."""

    def __init__(self, catalog: Catalog, directory: DataDirectory, later: Later, led: Leadership | None = None) -> None:
        """`led` are the buckets that are here, where there are several servers; otherwise all are."""
        self._led = led
        self._catalog = catalog
        self._directory = directory
        self._later = later
        self._dropped_tables: set[int] = set()
        self.disk = directory.disk
        self.replication: Replication = Alone()

    def join(self, replication: Replication) -> None:
        """Be one of several: buckets have replicas elsewhere from now on."""
        self.replication = replication

    def table(self, bucket: TableBucket) -> TableInfo:
        """The table of a bucket that is led here; any other is refused as clients expect it."""
        table = self.table_of(bucket)
        if self._led is not None and bucket not in self._led:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(
                f"Server {self._led.server_id} is not leader or follower for {bucket}."
            )
        return table

    def table_of(self, bucket: TableBucket) -> TableInfo:
        """The table a bucket belongs to, whoever leads it."""
        table = self._catalog.table_by_id(bucket.table_id)
        if table is None:
            if bucket.table_id in self._dropped_tables:
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"Server 0 is not leader or follower for {bucket}.")
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown table or bucket: {bucket}.")
        if table.descriptor.is_partitioned:
            partition = None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)
            if partition is None or partition.table_id != bucket.table_id:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown partition of {table.path}: {bucket}.")
        elif bucket.partition_id is not None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Table {table.path} is not partitioned: {bucket}.")
        if not 0 <= bucket.bucket < table.bucket_count:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(
                f"Table {table.path} has {table.bucket_count} buckets: {bucket}."
            )
        return table

    def table_by_id(self, table_id: int) -> TableInfo | None:
        """The table with that id, if it is still there."""
        return self._catalog.table_by_id(table_id)

    def has_primary_key(self, table_id: int) -> bool:
        """Whether a table exists and has a primary key."""
        table = self._catalog.table_by_id(table_id)
        return table is not None and table.descriptor.has_primary_key

    def exists(self, bucket: TableBucket) -> bool:
        """Whether there is such a bucket here."""
        return self._catalog.bucket_exists(bucket) and (self._led is None or bucket in self._led)

    def all(self) -> Iterator[TableBucket]:
        """Every bucket that is here."""
        return self._catalog.all_buckets() if self._led is None else iter(self._led)

    def name(self, bucket: TableBucket) -> str:
        """Table, bucket and partition, as `lakeward repair` wants to hear them."""
        name = f"{self.table_of(bucket).path} {bucket.bucket}"
        if bucket.partition_id is None:
            return name
        partition = self._catalog.partition_by_id(bucket.partition_id)
        assert partition is not None
        return f"{name} --partition {partition.name}"

    def partition_values(self, bucket: TableBucket) -> tuple[str, ...]:
        """The values of the partition that a bucket belongs to; none where a table has no partitions."""
        partition = None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)
        return () if partition is None else partition.values

    # -- files

    def log_directory(self, bucket: TableBucket) -> Path:
        """Where the log of a bucket is kept."""
        return self._directory.log(self._parent(bucket), bucket.bucket)

    def kv_directory(self, bucket: TableBucket) -> Path:
        """Where the state of a bucket is kept."""
        return self._directory.kv(self._parent(bucket), bucket.bucket)

    def facts_on_disk(self, bucket: TableBucket) -> LogFacts | None:
        """What is remembered of a log that is not in use; None when it cannot be read, or nothing is."""
        try:
            return read_facts(self.disk, self.log_directory(bucket))
        except ValueError:
            return None

    def segments_on_disk(self, bucket: TableBucket) -> list[tuple[int, int]]:
        """Base offset and size of each segment of a log, in order; for logs that are not in use."""
        paths = self.disk.glob(self.log_directory(bucket), "*.log")
        return [(int(path.stem), self.disk.facts(path).size) for path in paths]

    def _parent(self, bucket: TableBucket) -> Path:
        table = self.table_of(bucket)
        if bucket.partition_id is None:
            return self._directory.table(table.path, table.table_id)
        partition = self._catalog.partition_by_id(bucket.partition_id)
        assert partition is not None
        return self._directory.partition(table.path, table.table_id, partition.name, partition.partition_id)

    def note_drop(self, table: TableInfo) -> None:
        """Tell clients that come late that a table is gone, not unknown."""
        self._dropped_tables.add(table.table_id)

    def remove_table(self, table: TableInfo) -> None:
        """Take the files of a dropped table away."""
        self.note_drop(table)
        self._remove(self._directory.table(table.path, table.table_id))

    def remove_partition(self, table: TableInfo, partition_id: int, name: str) -> None:
        """Take the files of a dropped partition away."""
        self._remove(self._directory.partition(table.path, table.table_id, name, partition_id))

    def remove_bucket(self, bucket: TableBucket) -> None:
        """Take the files of one bucket away."""
        for directory in (self.log_directory(bucket), self.kv_directory(bucket)):
            self._remove(directory)

    def remove_leftovers(self) -> None:
        """Take away what drops have left that a crash interrupted."""
        for leftover in self._directory.leftovers():
            self._remove_later(leftover)

    def _remove(self, directory: Path) -> None:
        away = self._directory.drop(directory)
        if away is not None:
            self._remove_later(away)

    def _remove_later(self, directory: Path) -> None:
        self._later(lambda: self._directory.remove(directory))
