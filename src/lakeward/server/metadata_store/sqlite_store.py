"""SqliteMetadataStore: metadata in one SQLite file.

Write-ahead logging with `synchronous=FULL`: a change is on disk before the caller hears of it, and a kill at any moment
leaves the last complete change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.metadata_store.port import (
    Counter,
    DatabaseRecord,
    Document,
    PartitionRecord,
    SchemaRecord,
    TableRecord,
)

FILE_NAME = "metadata.db"
SCHEMA_VERSION = 1
_BUSY_SECONDS = 5.0

_TABLES = """
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


class _SqliteChange:
    """The statements of one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def take(self, counter: Counter, count: int = 1) -> int:
        row = self._run(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE"
            " SET next_id = next_id + excluded.next_id RETURNING next_id",
            (counter.value, count),
        ).fetchone()
        return int(row[0]) - count

    def put_database(self, record: DatabaseRecord) -> None:
        self._run(
            "INSERT INTO databases VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET descriptor = excluded.descriptor, modified_ms = excluded.modified_ms",
            (record.name, record.descriptor, record.created_ms, record.modified_ms),
        )

    def delete_database(self, name: str) -> None:
        self._run("DELETE FROM databases WHERE name = ?", (name,))

    def put_table(self, record: TableRecord) -> None:
        self._run(
            "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (table_id) DO UPDATE"
            " SET descriptor = excluded.descriptor, schema_id = excluded.schema_id, modified_ms = excluded.modified_ms",
            (
                record.table_id,
                record.database,
                record.name,
                record.descriptor,
                record.schema_id,
                record.created_ms,
                record.modified_ms,
            ),
        )

    def delete_table(self, table_id: int) -> None:
        self._run("DELETE FROM tables WHERE table_id = ?", (table_id,))

    def put_schema(self, record: SchemaRecord) -> None:
        self._run("INSERT OR REPLACE INTO schemas VALUES (?, ?, ?)", (record.table_id, record.schema_id, record.schema))

    def put_partition(self, record: PartitionRecord) -> None:
        self._run(
            "INSERT INTO partitions VALUES (?, ?, ?, ?)",
            (record.partition_id, record.table_id, record.name, record.created_ms),
        )

    def delete_partition(self, partition_id: int) -> None:
        self._run("DELETE FROM partitions WHERE partition_id = ?", (partition_id,))

    def put_option(self, key: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO options VALUES (?, ?)", (key, value))

    def delete_option(self, key: str) -> None:
        self._run("DELETE FROM options WHERE key = ?", (key,))

    def put_document(self, document: Document) -> None:
        self._run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (document.area, document.key, document.text))

    def delete_document(self, area: str, key: str) -> None:
        self._run("DELETE FROM documents WHERE area = ? AND key = ?", (area, key))


class SqliteMetadataStore:
    """A MetadataStore in `metadata.db` of a data directory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: Told after every change that is on disk.
        self.on_change: Callable[[], None] = _nobody_listens
        try:
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as wrong:
            raise _unusable(path, wrong) from wrong
        try:
            self._prepare()
        except sqlite3.Error as wrong:
            self._connection.close()
            raise _unusable(path, wrong) from wrong
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def in_directory(cls, data_dir: Path) -> SqliteMetadataStore:
        """The store of a data directory, which is made if it is not there."""
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(f"The data directory {data_dir} cannot be made: {wrong.strerror}.") from wrong
        return cls(data_dir / FILE_NAME)

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA foreign_keys = ON")
        run("PRAGMA mmap_size = 0")
        with self._transaction():
            version = int(run("PRAGMA user_version").fetchone()[0])
            if version == 0:
                for statement in filter(str.strip, _TABLES.split(";")):
                    run(statement)
                run(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION:
                raise ErrorCode.STORAGE.error(
                    f"The metadata file {self._path} has version {version}, this program reads {SCHEMA_VERSION}."
                    " Start the release that wrote it."
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def change(self) -> Iterator[_SqliteChange]:
        """A transaction: durable when the block ends, undone when it raises."""
        try:
            with self._transaction():
                yield _SqliteChange(self._connection)
        except sqlite3.Error as wrong:
            raise ErrorCode.STORAGE.error(f"The metadata file {self._path} refused a change: {wrong}.") from wrong
        self.on_change()

    def copy_to(self, target: Path) -> None:
        """All changes up to now, as a file that can be opened by itself; on any thread, changes go on meanwhile."""
        try:
            with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as reader:
                reader.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.Error as wrong:
            raise ErrorCode.STORAGE.error(f"The metadata file {self._path} cannot be copied: {wrong}.") from wrong

    def databases(self) -> Iterable[DatabaseRecord]:
        """Every database."""
        return [DatabaseRecord(*row) for row in self._connection.execute("SELECT * FROM databases ORDER BY name")]

    def tables(self) -> Iterable[TableRecord]:
        """Every table."""
        return [TableRecord(*row) for row in self._connection.execute("SELECT * FROM tables ORDER BY table_id")]

    def schemas(self) -> Iterable[SchemaRecord]:
        """Every schema of every table."""
        rows = self._connection.execute("SELECT * FROM schemas ORDER BY table_id, schema_id")
        return [SchemaRecord(*row) for row in rows]

    def partitions(self) -> Iterable[PartitionRecord]:
        """Every partition, oldest first."""
        rows = self._connection.execute("SELECT * FROM partitions ORDER BY partition_id")
        return [PartitionRecord(*row) for row in rows]

    def options(self) -> dict[str, str]:
        """Cluster options that were changed while running."""
        return dict(self._connection.execute("SELECT key, value FROM options").fetchall())

    def document(self, area: str, key: str) -> str | None:
        """The text of a document, or None."""
        query = "SELECT text FROM documents WHERE area = ? AND key = ?"
        row = self._connection.execute(query, (area, key)).fetchone()
        return None if row is None else str(row[0])

    def documents(self, area: str) -> Iterable[Document]:
        """Every document of an area, by key."""
        query = "SELECT area, key, text FROM documents WHERE area = ? ORDER BY key"
        return [Document(*row) for row in self._connection.execute(query, (area,))]

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        self._connection.close()


def _nobody_listens() -> None:
    """What is told until somebody listens."""


def _unusable(path: Path, wrong: sqlite3.Error) -> LakewardError:
    return ErrorCode.STORAGE.error(
        f"The metadata file {path} cannot be opened: {wrong}. Is it a Lakeward data directory you may write to?"
    )
