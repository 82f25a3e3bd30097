"""SqliteMetadataStore: metadata in SQLite, in memory, with an image and a journal on disk.

A change is in the journal, synced, before the caller hears of it. SQLite's own log is not used: it drops what comes
after a flipped bit without a word, and pages of a database carry no checksum at all.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file
from lakeward.server.metadata_store.files import MetadataFiles, ProvenState
from lakeward.server.metadata_store.image import Image
from lakeward.server.metadata_store.journal import Journal
from lakeward.server.metadata_store.opening import load, new_database, plain_database, strays_of, unusable
from lakeward.server.metadata_store.port import (
    DatabaseRecord,
    Document,
    PartitionRecord,
    SchemaRecord,
    TableRecord,
)
from lakeward.server.metadata_store.sqlite_change import SqliteChange

_log = logging.getLogger(__name__)
FILE_NAME = "metadata.db"
#: A journal of this size is folded into a new image, unless the image itself is larger.
_FOLD_BYTES = 1 << 20
_SET_ASIDE = ".set-aside"

Filling = Callable[[MetadataFiles, ProvenState, sqlite3.Connection], None]


class SqliteMetadataStore:
    """A MetadataStore in `metadata.db` of a data directory."""

    def __init__(self, disk: Files, entropy: Entropy, path: Path, filling: Filling = load) -> None:
        """`filling` decides what is good enough to go on with: by default nothing but all that was acknowledged."""
        self._disk = disk
        self._entropy = entropy
        self._path = path
        self._listeners: list[Callable[[], None]] = []
        self._files = MetadataFiles(disk, path)
        self._connection = new_database()
        self._lock = threading.RLock()
        self._journal: Journal | None = None
        self._mirror: Journal | None = None
        self._identity, self._generation = "", -1
        self._folded_bytes, self._folded_generation = 0, -1
        try:
            found = self._files.find()
            filling(self._files, found, self._connection)
            self._begin(found)
        except OSError as wrong:
            self._connection.close()
            raise unusable(path, wrong) from wrong
        except BaseException:
            self._connection.close()
            raise

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Hear of every change that is on disk, from now on."""
        self._listeners.append(listener)

    def _begin(self, found: ProvenState) -> None:
        self._identity = found.identity or str(self._entropy.uuid())
        self._generation = found.last_change if found.is_complete else found.end + 1  # a number is not given twice
        for trouble in found.troubles:
            _log.warning("the metadata in %s is whole in spite of %s", self._path.parent, trouble)
        if found.journal_size is None or found.image is None:
            is_bad = any(trouble.startswith(f"{self._path.name}: it") for trouble in found.troubles)
            if is_bad and self._disk.exists(self._path):
                self._disk.rename(self._path, self._path.with_name(self._path.name + _SET_ASIDE))
            self._fold()
            if found.troubles:
                self._files.prune_copies(1)  # what is damaged is of no more use, now that all is there twice
            self._files.write_identity(self._identity)
            for suffix in ("-wal", "-shm"):
                self._disk.unlink(self._path.with_name(self._path.name + suffix))
            return
        self._folded_bytes, self._folded_generation = len(found.image.content), found.image.generation
        self._journal = Journal(self._disk, self._files.journal, at=found.journal_size, durable=True)
        mirror = self._files.copy(found.image.generation, ".journal")
        if self._disk.exists(mirror):
            self._mirror = Journal(self._disk, mirror, at=found.journal_size, durable=False)

    def _fold(self) -> None:
        """Write a new image, twice, and begin a new journal behind it."""
        image = self.image()
        sealed = image.to_bytes()
        files = self._files
        self._disk.make_directory(files.copies, 0o700)
        replace_file(self._disk, files.copy(image.generation, ".db"), sealed)
        mirror = Journal.begin(
            self._disk, files.copy(image.generation, ".journal"), self._identity, image.generation, durable=False
        )
        replace_file(self._disk, files.image, sealed)
        journal = Journal.begin(self._disk, files.journal, self._identity, image.generation, durable=True)
        self._let_go()
        self._journal, self._mirror = journal, mirror
        self._folded_bytes, self._folded_generation = len(sealed), image.generation
        files.prune_copies()

    def _let_go(self) -> None:
        for journal in (self._journal, self._mirror):
            if journal is not None:
                journal.close()
        self._journal = self._mirror = None

    @contextmanager
    def _transaction(self) -> Iterator[SqliteChange]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            change = SqliteChange(self._connection)
            yield change
            if change.statements:
                assert self._journal is not None, "the store is closed"
                self._journal.append(self._generation + 1, change.statements)
                self._generation += 1
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        if change.statements:
            self._after(change)

    def _after(self, change: SqliteChange) -> None:
        try:
            if self._mirror is not None:
                self._mirror.append(self._generation, change.statements)
            if self._journal is not None and self._journal.size > max(_FOLD_BYTES, self._folded_bytes):
                self._fold()
        except OSError as wrong:
            # The change is safe in the journal; what failed is the second copy.
            _log.warning("the metadata in %s has no second copy for now: %s", self._path.parent, wrong.strerror)
            self._mirror = None

    @contextmanager
    def change(self) -> Iterator[SqliteChange]:
        """A transaction: durable when the block ends, undone when it raises."""
        try:
            with self._lock, self._transaction() as change:
                yield change
        except sqlite3.Error as wrong:
            raise ErrorCode.STORAGE.error(f"The metadata file {self._path} refused a change: {wrong}.") from wrong
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(
                f"The metadata file {self._path} refused a change: {wrong.strerror or wrong}."
            ) from wrong
        for listener in self._listeners:
            listener()

    def image(self) -> Image:
        """All changes up to now; on any thread."""
        with self._lock:
            return Image(self._identity, self._generation, plain_database(self._connection.serialize()))

    def strays(self) -> list[Path]:
        """Directories with data of tables and partitions whose ids have not been given out."""
        return strays_of(self._files, self._connection)

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
        """Fold the journal into the image and let go of both."""
        try:
            if self._generation > self._folded_generation:
                self._fold()
        except OSError as wrong:
            _log.warning("the journal of %s stays as it is until the next start: %s", self._path, wrong.strerror)
        self._let_go()
        self._connection.close()
