"""SqliteChange: the statements of one transaction, noted so that they can be made again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from lakeward.server.metadata_store.journal import Statements
from lakeward.server.metadata_store.port import (
    Counter,
    DatabaseRecord,
    Document,
    PartitionRecord,
    SchemaRecord,
    TableRecord,
)

TABLES = """
CREATE TABLE databases (
    name TEXT PRIMARY KEY, descriptor TEXT NOT NULL, created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE tables (
    table_id INTEGER PRIMARY KEY, database TEXT NOT NULL REFERENCES databases (name), name TEXT NOT NULL,
    descriptor TEXT NOT NULL, schema_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL,
    UNIQUE (database, name)
);
CREATE TABLE schemas (
    table_id INTEGER NOT NULL REFERENCES tables (table_id) ON DELETE CASCADE, schema_id INTEGER NOT NULL,
    schema TEXT NOT NULL, PRIMARY KEY (table_id, schema_id)
) WITHOUT ROWID;
CREATE TABLE partitions (
    partition_id INTEGER PRIMARY KEY, table_id INTEGER NOT NULL REFERENCES tables (table_id) ON DELETE CASCADE,
    name TEXT NOT NULL, created_ms INTEGER NOT NULL, UNIQUE (table_id, name)
);
CREATE TABLE counters (name TEXT PRIMARY KEY, next_id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE options (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    area TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (area, key)
) WITHOUT ROWID;
"""


class SqliteChange:
    """The statements of one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self.statements: Statements = []

    def _note(self, what: Callable[..., Any], *arguments: Any) -> None:
        self.statements.append([what.__name__, *arguments])

    def make_again(self, statements: Statements) -> None:
        """Do what a change did that was noted."""
        for what, *arguments in statements:
            record = _RECORDS.get(what)
            if record is not None:
                arguments = [record(*arguments)]
            elif what == "take":
                arguments = [Counter(arguments[0]), arguments[1]]
            getattr(self, what)(*arguments)

    def take(self, counter: Counter, count: int = 1) -> int:
        self._note(self.take, counter.value, count)
        row = self._run(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE"
            " SET next_id = next_id + excluded.next_id RETURNING next_id",
            (counter.value, count),
        ).fetchone()
        return int(row[0]) - count

    def put_database(self, record: DatabaseRecord) -> None:
        self._note(self.put_database, *astuple(record))
        self._run(
            "INSERT INTO databases VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET descriptor = excluded.descriptor, modified_ms = excluded.modified_ms",
            astuple(record),
        )

    def delete_database(self, name: str) -> None:
        self._note(self.delete_database, name)
        self._run("DELETE FROM databases WHERE name = ?", (name,))

    def put_table(self, record: TableRecord) -> None:
        self._note(self.put_table, *astuple(record))
        self._run(
            "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (table_id) DO UPDATE"
            " SET descriptor = excluded.descriptor, schema_id = excluded.schema_id, modified_ms = excluded.modified_ms",
            astuple(record),
        )

    def delete_table(self, table_id: int) -> None:
        self._note(self.delete_table, table_id)
        self._run("DELETE FROM tables WHERE table_id = ?", (table_id,))

    def put_schema(self, record: SchemaRecord) -> None:
        self._note(self.put_schema, *astuple(record))
        self._run("INSERT OR REPLACE INTO schemas VALUES (?, ?, ?)", astuple(record))

    def put_partition(self, record: PartitionRecord) -> None:
        self._note(self.put_partition, *astuple(record))
        self._run("INSERT INTO partitions VALUES (?, ?, ?, ?)", astuple(record))

    def delete_partition(self, partition_id: int) -> None:
        self._note(self.delete_partition, partition_id)
        self._run("DELETE FROM partitions WHERE partition_id = ?", (partition_id,))

    def put_option(self, key: str, value: str) -> None:
        self._note(self.put_option, key, value)
        self._run("INSERT OR REPLACE INTO options VALUES (?, ?)", (key, value))

    def delete_option(self, key: str) -> None:
        self._note(self.delete_option, key)
        self._run("DELETE FROM options WHERE key = ?", (key,))

    def put_document(self, document: Document) -> None:
        self._note(self.put_document, *astuple(document))
        self._run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", astuple(document))

    def delete_document(self, area: str, key: str) -> None:
        self._note(self.delete_document, area, key)
        self._run("DELETE FROM documents WHERE area = ? AND key = ?", (area, key))


_RECORDS: dict[str, type[Any]] = {
    "put_database": DatabaseRecord,
    "put_table": TableRecord,
    "put_schema": SchemaRecord,
    "put_partition": PartitionRecord,
    "put_document": Document,
}
