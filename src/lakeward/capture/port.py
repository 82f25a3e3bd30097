"""Database: what every kind of database offers to those who copy it and follow its changes.

A *position* is a place in the order in which the database's transactions were committed: a JSON object, opaque to
everyone but its database. A copy is exact without a lock and without a memory of its own:

    begin()                              where the stream starts
    read_chunk(table, chunk, as_of)      the rows of a range of keys, exactly as they were at `as_of`
    changes(start, end)                  what was committed after `start`, up to and including `end`

`read_chunk` reads the rows as they are now and then looks at what was changed since `as_of`: rows that were changed are
put back to what the first change says was there before. So whoever reads a chunk again, with the same `as_of`, gets the
same rows, and a chunk of `as_of` p together with the changes after p is the table: nothing is lost, nothing comes
twice. Where the log of the database does not say what was before (PostgreSQL, unless REPLICA IDENTITY is FULL) such
rows are left out of the chunk: the change itself brings them, as an upsert.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from lakeward.model.schema import Schema

#: A place in the order of commits, as JSON.
Position = Mapping[str, Any]


class ChangeKind(enum.IntEnum):
    """What a row of TableRows is; the numbers are those of a changelog on the wire."""

    INSERT = 1
    UPDATE_BEFORE = 2
    UPDATE_AFTER = 3
    DELETE = 4


@dataclass(frozen=True, slots=True, order=True)
class TableId:
    """A table's full name: `space` is the database of MySQL, the schema of PostgreSQL."""

    space: str
    name: str

    def __str__(self) -> str:
        return f"{self.space}.{self.name}"


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table of the database at one moment. Its schema is in our types, with comments and the primary key."""

    id: TableId
    schema: Schema
    comment: str | None = None
    #: What the database calls each type, by column; for messages and for sinks that want more than our types.
    native_types: Mapping[str, str] = field(default_factory=dict)
    #: Whether changes say what was there before.
    has_before: bool = True


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a table's key: from `low`, included, to `high`, excluded; None is open. Values are JSON."""

    index: int
    low: tuple[Any, ...] | None = None
    high: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of one table in the order of their commits, `rows` with the columns of `table.schema`.

    `kinds` (uint8, ChangeKind) says what each is; None: all are inserts.
    """

    table: SourceTable
    rows: pa.RecordBatch
    kinds: pa.Array | None = None
    #: When the last of them was committed, in ms since 1970; for the lag.
    committed_ms: int | None = None


class SchemaChangeKind(enum.StrEnum):
    """What happened to a table."""

    CREATE = "create"
    ALTER = "alter"
    TRUNCATE = "truncate"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A table is another from here on. `renamed`: columns that are known to be the same under a new name, old → new."""

    kind: SchemaChangeKind
    id: TableId
    before: SourceTable | None = None
    after: SourceTable | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: The statement, where the database tells it.
    statement: str | None = None


Event = TableRows | SchemaChange


class Database(Protocol):
    """One database server, seen through settings that name tables. Made in every process that needs it; it blocks."""

    def tables(self) -> Sequence[SourceTable]:
        """The tables that the settings name, as they are now; a LakewardError if one cannot be captured, and why."""

    def check(self) -> None:
        """Refuse a server, or a user, with which `begin` would fail. Makes nothing."""

    def begin(self) -> Position:
        """Where a new stream starts: now. Makes what it needs on the server (a slot, a publication) if it is absent."""

    def now(self) -> Position:
        """The end of what has been committed."""

    def limit(self, start: Position, end: Position, rows: int) -> Position:
        """A place between the two, about `rows` changes after the start, or `end`."""

    def chunks(self, table: SourceTable, rows: int) -> Sequence[Chunk]:
        """Ranges of about so many rows that cover every key there is or will be; one, where there is no key."""

    def read_chunk(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """Rows of the range, exactly as they were at `as_of`; None: as they are now, by SELECT alone."""

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """What was committed after `start`, up to and including `end`; `known`: the tables as they were at `start`."""

    def is_after(self, one: Position, other: Position) -> bool:
        """Whether `one` is later than `other`."""

    def release(self, position: Position) -> None:
        """What was committed up to here will not be asked for again."""

    def held_bytes(self) -> int | None:
        """How much of its log the server keeps for this stream alone; None where it keeps nothing for anyone."""

    def close(self) -> None:
        """End the connections. What was made on the server stays."""

    def drop(self) -> None:
        """Remove from the server what `begin` made there: the stream is over for good."""
