"""Catalog: databases, tables, schemas and partitions in memory, written through to the metadata store.

Reads are dictionary lookups of immutable values. A change is durable before it is visible, and listeners hear of it
after that. The catalog keeps what it is given; whether a change makes sense is decided by the *_admin modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lakeward.model import json_form
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.server.catalog import catalog_records, events
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.catalog.lake_settings import public_properties
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.metadata_store.port import Counter, MetadataStore

FIRST_SCHEMA_ID = 1
Listener = Callable[[events.Event], None]


@dataclass(slots=True)
class Entry:
    """All there is to know about one table."""

    info: TableInfo
    schemas: dict[int, Schema]
    partitions: dict[str, PartitionInfo] = field(default_factory=dict)
    table_json: bytes | None = None


class Catalog:
    """Everything that exists, by name and by id."""

    def __init__(self, store: MetadataStore, may_grow: Callable[[], None] = lambda: None) -> None:
        """`may_grow` is asked before there is more than there was; it raises while there may not be."""
        self._store = store
        self._may_grow = may_grow
        self._databases: dict[str, DatabaseInfo] = {}
        self._tables_of: dict[str, dict[str, Entry]] = {}
        self._entries: dict[int, Entry] = {}
        self._partitions: dict[int, PartitionInfo] = {}
        self._listeners: list[Listener] = []
        self._lake_catalog: Mapping[str, str] = {}
        self._load()

    def _load(self) -> None:
        for database in self._store.databases():
            self._remember_database(catalog_records.database_of(database))
        for table in self._store.tables():
            self._remember_table(Entry(catalog_records.table_of(table), {}))
        for schema in self._store.schemas():
            entry = self._entries[schema.table_id]
            latest = schema.schema_id == entry.info.schema_id  # came with the table already; parsing costs
            entry.schemas[schema.schema_id] = entry.info.schema if latest else catalog_records.schema_of(schema)
        for partition in self._store.partitions():
            self._remember_partition(catalog_records.partition_of(partition))

    # Reading

    def database(self, name: str) -> DatabaseInfo | None:
        """The database of that name."""
        return self._databases.get(name)

    def databases(self) -> list[DatabaseInfo]:
        """Every database, by name."""
        return [self._databases[name] for name in sorted(self._databases)]

    def tables_of(self, database: str) -> list[TableInfo]:
        """The tables of a database, by name."""
        tables = self._tables_of.get(database, {})
        return [tables[name].info for name in sorted(tables)]

    def table_count(self, database: str) -> int:
        """How many tables a database has."""
        return len(self._tables_of.get(database, ()))

    def tables(self) -> Iterator[TableInfo]:
        """Every table, oldest first."""
        return (entry.info for entry in list(self._entries.values()))

    def table_by_path(self, path: TablePath) -> TableInfo | None:
        """The table of that name."""
        entry = self._tables_of.get(path.database, {}).get(path.table)
        return None if entry is None else entry.info

    def table_by_id(self, table_id: int) -> TableInfo | None:
        """The table with that id."""
        entry = self._entries.get(table_id)
        return None if entry is None else entry.info

    def table_json(self, table_id: int) -> bytes:
        """The descriptor of a table as sent to clients."""
        entry = self._entries[table_id]
        if entry.table_json is None:
            descriptor = entry.info.descriptor
            told = replace(descriptor, properties=public_properties(descriptor, self._lake_catalog))
            entry.table_json = json_form.dump(json_form.descriptor_to_json(told))
        return entry.table_json

    def schema(self, table_id: int, schema_id: int) -> Schema | None:
        """A schema the table has or had."""
        entry = self._entries.get(table_id)
        return None if entry is None else entry.schemas.get(schema_id)

    def partition_by_id(self, partition_id: int) -> PartitionInfo | None:
        """The partition with that id."""
        return self._partitions.get(partition_id)

    def partition_by_name(self, table_id: int, name: str) -> PartitionInfo | None:
        """The partition of that name in a table."""
        entry = self._entries.get(table_id)
        return None if entry is None else entry.partitions.get(name)

    def partitions_of(self, table_id: int) -> list[PartitionInfo]:
        """The partitions of a table, oldest first."""
        entry = self._entries.get(table_id)
        return [] if entry is None else list(entry.partitions.values())

    def buckets_of(self, table: TableInfo) -> Iterator[TableBucket]:
        """Every bucket of a table that has data."""
        if not table.descriptor.is_partitioned:
            yield from events.buckets_of(table, None)
        for partition in self.partitions_of(table.table_id):
            yield from events.buckets_of(table, partition)

    def all_buckets(self) -> Iterator[TableBucket]:
        """Every bucket there is."""
        for table in self.tables():
            yield from self.buckets_of(table)

    def bucket_exists(self, bucket: TableBucket) -> bool:
        """Whether such a bucket belongs to a table that exists."""
        table = self.table_by_id(bucket.table_id)
        if table is None or not 0 <= bucket.bucket < table.bucket_count:
            return False
        if bucket.partition_id is None:
            return not table.descriptor.is_partitioned
        partition = self._partitions.get(bucket.partition_id)
        return partition is not None and partition.table_id == bucket.table_id

    # Changing

    def subscribe(self, listener: Listener) -> None:
        """Hear of every change from now on."""
        self._listeners.append(listener)

    def tell_lake_catalog(self, properties: Mapping[str, str]) -> None:
        """What clients are told of the lake's catalog, with the properties of each table in it."""
        self._lake_catalog = properties
        for entry in self._entries.values():
            entry.table_json = None

    def put_database(self, database: DatabaseInfo) -> None:
        """Create or replace a database."""
        with self._store.change() as change:
            change.put_database(catalog_records.database_record(database))
        self._remember_database(database)

    def drop_database(self, name: str) -> None:
        """Forget a database with all its tables, in one change."""
        entries = list(self._tables_of[name].values())
        with self._store.change() as change:
            for entry in entries:
                change.delete_table(entry.info.table_id)
            change.delete_database(name)
        for entry in entries:
            self._forget_table(entry)
        del self._tables_of[name]
        del self._databases[name]
        self._tell(events.TableDropped(entry.info, tuple(entry.partitions.values())) for entry in entries)

    def create_table(self, path: TablePath, descriptor: TableDescriptor, now_ms: int) -> TableInfo:
        """A new table with a new id and schema 1."""
        self._may_grow()
        with self._store.change() as change:
            info = TableInfo(path, change.take(Counter.TABLE_ID), FIRST_SCHEMA_ID, descriptor, now_ms, now_ms)
            change.put_table(catalog_records.table_record(info))
            change.put_schema(catalog_records.schema_record(info))
        self._remember_table(Entry(info, {FIRST_SCHEMA_ID: descriptor.schema}))
        self._tell([events.TableCreated(info)])
        return info

    def alter_table(self, table_id: int, descriptor: TableDescriptor, now_ms: int) -> TableInfo:
        """A table's descriptor replaced; a new schema gets the next schema id."""
        entry = self._entries[table_id]
        before = entry.info
        grown = descriptor.schema != before.schema
        info = replace(before, descriptor=descriptor, schema_id=before.schema_id + grown, modified_ms=now_ms)
        with self._store.change() as change:
            change.put_table(catalog_records.table_record(info))
            if grown:
                change.put_schema(catalog_records.schema_record(info))
        entry.info, entry.table_json = info, None
        entry.schemas[info.schema_id] = descriptor.schema
        self._tell([events.TableAltered(before, info)])
        return info

    def drop_table(self, table_id: int) -> None:
        """Forget a table with its schemas and partitions."""
        entry = self._entries[table_id]
        with self._store.change() as change:
            change.delete_table(table_id)
        self._forget_table(entry)
        self._tell([events.TableDropped(entry.info, tuple(entry.partitions.values()))])

    def create_partitions(self, table_id: int, names: Iterable[str], now_ms: int) -> list[PartitionInfo]:
        """New partitions of a table, in one change."""
        self._may_grow()
        created: list[PartitionInfo] = []
        with self._store.change() as change:
            for name in names:
                partition = PartitionInfo(change.take(Counter.PARTITION_ID), table_id, name, now_ms)
                change.put_partition(catalog_records.partition_record(partition))
                created.append(partition)
        for partition in created:
            self._remember_partition(partition)
        table = self._entries[table_id].info
        self._tell(events.PartitionCreated(table, partition) for partition in created)
        return created

    def drop_partitions(self, partitions: Iterable[PartitionInfo]) -> None:
        """Forget partitions, in one change."""
        dropped = list(partitions)
        with self._store.change() as change:
            for partition in dropped:
                change.delete_partition(partition.partition_id)
        for partition in dropped:
            del self._partitions[partition.partition_id]
            del self._entries[partition.table_id].partitions[partition.name]
        self._tell(events.PartitionDropped(self._entries[p.table_id].info, p) for p in dropped)

    def _tell(self, happened: Iterable[events.Event]) -> None:
        for event in happened:
            for listener in self._listeners:
                listener(event)

    def _remember_database(self, database: DatabaseInfo) -> None:
        self._databases[database.name] = database
        self._tables_of.setdefault(database.name, {})

    def _remember_table(self, entry: Entry) -> None:
        self._entries[entry.info.table_id] = entry
        self._tables_of[entry.info.path.database][entry.info.path.table] = entry

    def _forget_table(self, entry: Entry) -> None:
        del self._entries[entry.info.table_id]
        del self._tables_of[entry.info.path.database][entry.info.path.table]
        for partition in entry.partitions.values():
            del self._partitions[partition.partition_id]

    def _remember_partition(self, partition: PartitionInfo) -> None:
        self._partitions[partition.partition_id] = partition
        self._entries[partition.table_id].partitions[partition.name] = partition
