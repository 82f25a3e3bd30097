"""The data directory: its lock, and where each bucket's files are.

<data.dir>/
  lakeward.lock                                              held while a server runs
  metadata.db, .journal, .identity, .copies/                 the catalog (server.metadata_store.files)
  <db>/<table>-<tableId>[/<partition>-p<partitionId>]/log-<bucket>/
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from pathlib import Path
from typing import Self

from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.runtime.private_files import DIRECTORY_MODE, tighten

METADATA_FILE = "metadata.db"
_METADATA_SUFFIXES = (".db", ".journal", ".identity", ".copies")
#: There while `lakeward restore` fills the directory.
RESTORING_FILE = "restoring.json"
LOCK_FILE = "lakeward.lock"
#: A dropped table's directory is renamed first, so that a crash in the middle of deleting leaves no half table.
_DROPPED_SUFFIX = ".dropped"
_TABLE = re.compile(r".+-(\d+)")
_PARTITION = re.compile(r".+-p(\d+)")


class DataDirectory:
    """A data directory that this process has to itself."""

    def __init__(self, root: Path, *, is_restored: bool = False) -> None:
        """`is_restored` is for whoever fills the directory; a server must not start in one that is not finished."""
        self.root = root.resolve()
        self.root.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        tighten(self.root)
        if not is_restored and (self.root / RESTORING_FILE).exists():
            raise ErrorCode.STORAGE.error(
                f"The restore of {self.root} was interrupted; run `lakeward restore` on it again before you start it."
            )
        self._lock = os.open(self.root / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._lock, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._lock)
            raise ErrorCode.STORAGE.error(
                f"The data directory {self.root} is in use by another lakeward server (process {holder}). "
                f"Stop that server or start this one with another --data-dir."
            ) from None
        #: When a server was last here, by its clock; None when none was.
        self.seen_ms = _seen_ms(self._lock)
        with contextlib.suppress(OSError):  # for people only; a disk may be full
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note_time(self, now_ms: int) -> None:
        """Say that a server is here, and what time it is."""
        os.utime(self._lock, (now_ms / 1000, now_ms / 1000))

    def close(self) -> None:
        """Let another server have the directory."""
        os.close(self._lock)

    @property
    def metadata_file(self) -> Path:
        """Where the catalog is."""
        return self.root / METADATA_FILE

    def table(self, path: TablePath, table_id: int) -> Path:
        """The directory of a table."""
        return self.root / path.database / f"{path.table}-{table_id}"

    def partition(self, path: TablePath, table_id: int, partition: str, partition_id: int) -> Path:
        """The directory of a partition."""
        return self.table(path, table_id) / f"{partition}-p{partition_id}"

    @staticmethod
    def log(parent: Path, bucket: int) -> Path:
        """The directory of a bucket's log within its table or partition."""
        return parent / f"log-{bucket}"

    @staticmethod
    def kv(parent: Path, bucket: int) -> Path:
        """The directory of a bucket's state within its table or partition."""
        return parent / f"kv-{bucket}"

    @staticmethod
    def drop(directory: Path) -> Path | None:
        """Take a table or partition away under its name; returns what `remove` may delete at leisure."""
        if not directory.exists():
            return None
        away = directory.with_name(directory.name + _DROPPED_SUFFIX)
        directory.rename(away)
        return away

    @staticmethod
    def remove(directory: Path) -> None:
        """Delete what `drop` took away."""
        shutil.rmtree(directory, ignore_errors=True)

    def dropped(self) -> list[Path]:
        """Leftovers of drops that a crash interrupted."""
        return [*self.root.glob(f"*/*{_DROPPED_SUFFIX}"), *self.root.glob(f"*/*/*{_DROPPED_SUFFIX}")]


def data_directory_of(bucket: Path) -> Path:
    """The data directory that the directory of a log, or of a state, is in."""
    parent = bucket.parent
    table = parent.parent if _PARTITION.fullmatch(parent.name) else parent
    return table.parent.parent


def has_metadata(root: Path) -> bool:
    """Whether a server has ever been here: any file of the catalog is left."""
    return any((root / METADATA_FILE).with_suffix(suffix).exists() for suffix in _METADATA_SUFFIXES)


def _seen_ms(lock: int) -> int | None:
    found = os.fstat(lock)
    return found.st_mtime_ns // 1_000_000 if found.st_size else None


def stray_directories(root: Path, next_table_id: int, next_partition_id: int) -> list[Path]:
    """Directories with the data of tables and partitions whose ids have not been given out yet."""
    strays = []
    for database in _directories(root):
        for table in _directories(database):
            found = _TABLE.fullmatch(table.name)
            if found is None:
                continue
            if int(found[1]) >= next_table_id:
                if any(table.glob("log-*/*.log")) or any(table.glob("*-p*/log-*/*.log")):
                    strays.append(table)
                continue
            for partition in _directories(table):
                named = _PARTITION.fullmatch(partition.name)
                if named is not None and int(named[1]) >= next_partition_id:
                    strays.append(partition)
    return strays


def _directories(parent: Path) -> list[Path]:
    with os.scandir(parent) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
