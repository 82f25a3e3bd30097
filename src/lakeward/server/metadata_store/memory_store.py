"""MemoryMetadataStore: metadata in dicts, for tests and for servers that should forget."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lakeward.server.metadata_store.port import (
    Counter,
    DatabaseRecord,
    Document,
    PartitionRecord,
    SchemaRecord,
    TableRecord,
)


@dataclass
class _State:
    """Everything that is kept, and the changes one can make to it."""

    database_by_name: dict[str, DatabaseRecord] = field(default_factory=dict)
    table_by_id: dict[int, TableRecord] = field(default_factory=dict)
    schema_by_id: dict[tuple[int, int], SchemaRecord] = field(default_factory=dict)
    partition_by_id: dict[int, PartitionRecord] = field(default_factory=dict)
    option_by_key: dict[str, str] = field(default_factory=dict)
    document_by_key: dict[tuple[str, str], Document] = field(default_factory=dict)
    next_ids: dict[Counter, int] = field(default_factory=lambda: dict.fromkeys(Counter, 0))

    def clone(self) -> _State:
        return _State(**{name: copy.copy(value) for name, value in vars(self).items()})

    def take(self, counter: Counter, count: int = 1) -> int:
        first = self.next_ids[counter]
        self.next_ids[counter] = first + count
        return first

    def put_database(self, record: DatabaseRecord) -> None:
        self.database_by_name[record.name] = record

    def delete_database(self, name: str) -> None:
        self.database_by_name.pop(name, None)

    def put_table(self, record: TableRecord) -> None:
        self.table_by_id[record.table_id] = record

    def delete_table(self, table_id: int) -> None:
        self.table_by_id.pop(table_id, None)
        self.schema_by_id = {k: v for k, v in self.schema_by_id.items() if v.table_id != table_id}
        self.partition_by_id = {k: v for k, v in self.partition_by_id.items() if v.table_id != table_id}

    def put_schema(self, record: SchemaRecord) -> None:
        self.schema_by_id[record.table_id, record.schema_id] = record

    def put_partition(self, record: PartitionRecord) -> None:
        self.partition_by_id[record.partition_id] = record

    def delete_partition(self, partition_id: int) -> None:
        self.partition_by_id.pop(partition_id, None)

    def put_option(self, key: str, value: str) -> None:
        self.option_by_key[key] = value

    def delete_option(self, key: str) -> None:
        self.option_by_key.pop(key, None)

    def put_document(self, document: Document) -> None:
        self.document_by_key[document.area, document.key] = document

    def delete_document(self, area: str, key: str) -> None:
        self.document_by_key.pop((area, key), None)


class MemoryMetadataStore:
    """A MetadataStore that lives as long as the object."""

    def __init__(self) -> None:
        self._state = _State()

    @contextmanager
    def change(self) -> Iterator[_State]:
        """A transaction: visible when the block ends, undone when it raises."""
        changed = self._state.clone()
        yield changed
        self._state = changed

    def databases(self) -> Iterable[DatabaseRecord]:
        """Every database."""
        return list(self._state.database_by_name.values())

    def tables(self) -> Iterable[TableRecord]:
        """Every table."""
        return list(self._state.table_by_id.values())

    def schemas(self) -> Iterable[SchemaRecord]:
        """Every schema of every table."""
        return list(self._state.schema_by_id.values())

    def partitions(self) -> Iterable[PartitionRecord]:
        """Every partition, oldest first."""
        return sorted(self._state.partition_by_id.values(), key=lambda record: record.partition_id)

    def options(self) -> dict[str, str]:
        """Cluster options that were changed while running."""
        return dict(self._state.option_by_key)

    def document(self, area: str, key: str) -> str | None:
        """The text of a document, or None."""
        found = self._state.document_by_key.get((area, key))
        return None if found is None else found.text

    def documents(self, area: str) -> Iterable[Document]:
        """Every document of an area, by key."""
        return [d for _, d in sorted(self._state.document_by_key.items()) if d.area == area]

    def close(self) -> None:
        """Nothing to let go of."""
