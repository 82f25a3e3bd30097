"""MetadataStore: what the coordinator must never forget.

Databases, tables, every schema a table ever had, partitions, changed cluster options, counters whose values are
never given twice, and documents: small named texts for the parts that come later.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


class Counter(enum.StrEnum):
    """A source of ids. What a finished change took is never given again, not even after a crash."""

    TABLE_ID = "table_id"
    PARTITION_ID = "partition_id"
    WRITER_ID = "writer_id"
    COORDINATOR_EPOCH = "coordinator_epoch"


@dataclass(frozen=True, slots=True)
class DatabaseRecord:
    """A database; `descriptor` is its JSON."""

    name: str
    descriptor: str
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A table; `descriptor` is its JSON with the latest schema, numbered `schema_id`."""

    table_id: int
    database: str
    name: str
    descriptor: str
    schema_id: int
    created_ms: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class SchemaRecord:
    """One schema a table has or had."""

    table_id: int
    schema_id: int
    schema: str


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """A partition of a table."""

    partition_id: int
    table_id: int
    name: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Document:
    """A small text under an area and a key."""

    area: str
    key: str
    text: str


class Change(Protocol):
    """A change under way: all of it happens, or none."""

    def take(self, counter: Counter, count: int = 1) -> int:
        """The first of `count` fresh consecutive ids, starting at 0."""
        ...

    def put_database(self, record: DatabaseRecord) -> None:
        """Create or replace a database."""
        ...

    def delete_database(self, name: str) -> None:
        """Forget a database. Its tables must be gone."""
        ...

    def put_table(self, record: TableRecord) -> None:
        """Create or replace a table."""
        ...

    def delete_table(self, table_id: int) -> None:
        """Forget a table with its schemas and partitions."""
        ...

    def put_schema(self, record: SchemaRecord) -> None:
        """Keep one more schema of a table."""
        ...

    def put_partition(self, record: PartitionRecord) -> None:
        """Create a partition."""
        ...

    def delete_partition(self, partition_id: int) -> None:
        """Forget a partition."""
        ...

    def put_option(self, key: str, value: str) -> None:
        """Set a cluster option."""
        ...

    def delete_option(self, key: str) -> None:
        """Forget a cluster option."""
        ...

    def put_document(self, document: Document) -> None:
        """Create or replace a document."""
        ...

    def delete_document(self, area: str, key: str) -> None:
        """Forget a document."""
        ...


class MetadataStore(Protocol):
    """Durable metadata. One process, one thread."""

    def change(self) -> AbstractContextManager[Change]:
        """A transaction: durable when the block ends, undone when it raises."""
        ...

    def databases(self) -> Iterable[DatabaseRecord]:
        """Every database."""
        ...

    def tables(self) -> Iterable[TableRecord]:
        """Every table."""
        ...

    def schemas(self) -> Iterable[SchemaRecord]:
        """Every schema of every table."""
        ...

    def partitions(self) -> Iterable[PartitionRecord]:
        """Every partition, oldest first."""
        ...

    def options(self) -> dict[str, str]:
        """Cluster options that were changed while running."""
        ...

    def document(self, area: str, key: str) -> str | None:
        """The text of a document, or None."""
        ...

    def documents(self, area: str) -> Iterable[Document]:
        """Every document of an area, by key."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...
