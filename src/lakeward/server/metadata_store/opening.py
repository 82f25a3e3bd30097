"""The database in memory, from what a data directory has."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.metadata_store.files import MetadataFiles, ProvenState
from lakeward.server.metadata_store.port import Counter
from lakeward.server.metadata_store.sqlite_change import TABLES, SqliteChange
from lakeward.storage.disk.directories import stray_directories

SCHEMA_VERSION = 1
_SHOWN = 3
#: Bytes of a database's head: how it is written and read, 1 by a rollback journal, 2 by a log.
_FORMAT_VERSIONS = (18, 20)
_PLAIN, _WITH_LOG = b"\x01\x01", b"\x02\x02"


def new_database() -> sqlite3.Connection:
    """An empty database in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def load(files: MetadataFiles, found: ProvenState, connection: sqlite3.Connection) -> None:
    """Fill a database with what was found; whoever lacks an acknowledged change, or tables, is refused."""
    if not found.is_complete:
        raise files.refusal(
            f"change {found.last_change + 1:,} of {found.end:,} was acknowledged and cannot be read", found
        )
    fill(files, found, connection)
    check_directories(files, found, connection)


def fill(files: MetadataFiles, found: ProvenState, connection: sqlite3.Connection) -> None:
    """Fill a database with what was found, whatever is missing."""
    try:
        if found.is_unsealed:
            _read_unsealed(files.image, connection)
        elif found.image is not None:
            connection.deserialize(plain_database(found.image.content))
        elif found.identity is not None or found.troubles:
            raise files.refusal("there is no image of it that can be read", found)
        _check_version(files.image, connection)
        for _, statements in found.changes:
            SqliteChange(connection).make_again(statements)
    except sqlite3.Error as wrong:
        raise files.refusal(f"it is a damaged file ({wrong})", found) from wrong


def plain_database(content: bytes) -> bytes:
    """A database that SQLite takes into memory: early releases marked theirs as one that has a log beside it.

    The mark is copied along with the rest, so images that were written from such a file have it, too.
    """
    start, end = _FORMAT_VERSIONS
    return content[:start] + _PLAIN + content[end:] if content[start:end] == _WITH_LOG else content


def _read_unsealed(path: Path, connection: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as source:
        told = source.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if told != "ok":
            raise sqlite3.DatabaseError(told)
        source.backup(connection)


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == 0:
        connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")
    elif version != SCHEMA_VERSION:
        raise ErrorCode.STORAGE.error(
            f"The metadata file {path} has version {version}, this program reads {SCHEMA_VERSION}."
            " Start the release that wrote it."
        )


def check_directories(files: MetadataFiles, found: ProvenState, connection: sqlite3.Connection) -> None:
    """Refuse metadata that has never heard of tables whose data is there: it is older than the data, or another's."""
    strays = strays_of(files, connection)
    if strays:
        names = ", ".join(str(path.relative_to(files.image.parent)) for path in strays[:_SHOWN])
        more = f" and {len(strays) - _SHOWN} more" if len(strays) > _SHOWN else ""
        count = connection.execute("SELECT count(*) FROM tables").fetchone()[0]
        raise files.refusal(
            f"it has {count} tables and has never heard of {names}{more}, which hold data of tables made later", found
        )


def strays_of(files: MetadataFiles, connection: sqlite3.Connection) -> list[Path]:
    """Directories with data of tables and partitions whose ids this database has not given out."""
    next_ids = dict(connection.execute("SELECT name, next_id FROM counters").fetchall())
    tables, partitions = (next_ids.get(counter.value, 0) for counter in (Counter.TABLE_ID, Counter.PARTITION_ID))
    return stray_directories(files.disk, files.image.parent, tables, partitions)


def unusable(path: Path, wrong: OSError) -> LakewardError:
    """The error for files that cannot be reached at all."""
    return ErrorCode.STORAGE.error(
        f"The metadata file {path} cannot be opened: {wrong.strerror}."
        " Is it a Lakeward data directory you may write to?"
    )
