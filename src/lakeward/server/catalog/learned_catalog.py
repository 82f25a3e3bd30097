"""LearnedCatalog: what exists as a coordinator elsewhere has told it; in memory, never written."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.server.catalog import events
from lakeward.server.catalog.catalog import Catalog, Entry
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore


class LearnedCatalog(Catalog):
    """Told again is fine; listeners hear what is new."""

    def __init__(self) -> None:
        super().__init__(MemoryMetadataStore())

    def unknown_schemas(self, table_id: int, schema_id: int) -> list[int]:
        """Older schemas of a table that nobody has told yet."""
        entry = self._entries.get(table_id)
        known = {} if entry is None else entry.schemas
        return [number for number in range(1, schema_id) if number not in known]

    def learn_table(self, table: TableInfo, older: Mapping[int, Schema]) -> None:
        """A table is there, or has changed; `older` are schemas that it had before."""
        there = self.table_by_path(table.path)
        if there is not None and there.table_id != table.table_id:
            self.forget_table(there.table_id)
        schemas = {**older, table.schema_id: table.schema}
        entry = self._entries.get(table.table_id)
        if entry is None:
            self._tables_of.setdefault(table.path.database, {})
            self._remember_table(Entry(table, schemas))
            self._tell([events.TableCreated(table)])
            return
        before, entry.info, entry.table_json = entry.info, table, None
        entry.schemas.update(schemas)
        if before != table:
            self._tell([events.TableAltered(before, table)])

    def learn_partition(self, partition: PartitionInfo) -> None:
        """A partition is there; its table is known."""
        entry = self._entries[partition.table_id]
        there = entry.partitions.get(partition.name)
        if there is not None and there.partition_id == partition.partition_id:
            return
        if there is not None:
            self.forget_partition(there.partition_id)
        self._remember_partition(partition)
        self._tell([events.PartitionCreated(entry.info, partition)])

    def forget_table(self, table_id: int) -> None:
        """A table is gone; unknown ones are fine."""
        entry = self._entries.get(table_id)
        if entry is not None:
            self._forget_table(entry)
            self._tell([events.TableDropped(entry.info, tuple(entry.partitions.values()))])

    def forget_partition(self, partition_id: int) -> None:
        """A partition is gone; unknown ones are fine."""
        partition = self._partitions.pop(partition_id, None)
        if partition is not None:
            entry = self._entries[partition.table_id]
            entry.partitions.pop(partition.name, None)
            self._tell([events.PartitionDropped(entry.info, partition)])
