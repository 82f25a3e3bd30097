"""The data directory: its lock, and where each bucket's files are.

<data.dir>/
  lakeward.lock                                              held while a server runs
  metadata.db, .journal, .identity, .copies/                 the catalog (server.metadata_store.files)
  <db>/<table>-<tableId>[/<partition>-p<partitionId>]/log-<bucket>/
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Self

from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.runtime.files.port import File, Files
from lakeward.runtime.files.private_files import DIRECTORY_MODE
from lakeward.runtime.files.whole_file import make_lasting_directory

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

    def __init__(self, disk: Files, root: Path, *, is_restored: bool = False, is_held: bool = False) -> None:
        """`is_restored` is for whoever fills the directory; a server must not start in one that is not finished.

        `is_held` is for a process whose parent has locked it, for as long as any of its children lives.
        """
        self.disk = disk
        self.root = disk.resolve(root)
        make_lasting_directory(disk, self.root, DIRECTORY_MODE)
        disk.tighten(self.root)
        if not is_restored and disk.exists(self.root / RESTORING_FILE):
            raise ErrorCode.STORAGE.error(
                f"The restore of {self.root} was interrupted; run `lakeward restore` on it again before you start it."
            )
        self._lock_file = self.root / LOCK_FILE
        self._lock: File | None = None
        self.seen_ms: int | None = None
        if not is_held:
            self._hold()
        #: Which file the lock is: its name can go, or lead to another one, while this one is held.
        self._lock_file_number = self._number_of_lock_file()

    def _hold(self) -> None:
        disk = self.disk
        lock = disk.lock(self._lock_file)
        if lock is None:
            holder = disk.read_bytes(self._lock_file)[:32].decode(errors="replace").strip() or "unknown"
            raise ErrorCode.STORAGE.error(
                f"The data directory {self.root} is in use by another lakeward server (process {holder}). "
                f"Stop that server or start this one with another --data-dir."
            )
        self._lock = lock
        #: When a server was last here, by its clock; None when none was.
        facts = lock.facts()
        self.seen_ms = facts.modified_ns // 1_000_000 if facts.size else None
        with contextlib.suppress(OSError):  # for people only; a disk may be full
            lock.truncate(0)
            lock.pwrite(f"{os.getpid()}\n".encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note_time(self, now_ms: int) -> None:
        """Say that a server is here, and what time it is."""
        self.disk.set_time(self._lock_file, now_ms)

    def is_in_place(self) -> bool:
        """Whether the name of the directory still leads to the one that was locked, and to its lock."""
        return self._number_of_lock_file() == self._lock_file_number

    def require_in_place(self) -> None:
        """Refuse to write under a name that leads somewhere else by now; files that are open know nothing of that."""
        if not self.is_in_place():
            raise ErrorCode.STORAGE.error(
                f"The data directory {self.root} was moved, removed or replaced while the server ran: nothing more was "
                "written there. What was acknowledged is where the directory is now, if it still is."
            )

    def _number_of_lock_file(self) -> int | None:
        try:
            return self.disk.facts(self._lock_file).number
        except OSError:
            return None

    def close(self) -> None:
        """Let another server have the directory."""
        if self._lock is not None:
            self._lock.close()

    @property
    def lock_number(self) -> int:
        """The descriptor of the lock; a child that has it, too, keeps the directory ours."""
        number: int = getattr(self._lock, "number", -1)
        return number

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

    def drop(self, directory: Path) -> Path | None:
        """Take a table or partition away under its name; returns what `remove` may delete at leisure."""
        if not self.disk.exists(directory):
            return None
        away = directory.with_name(directory.name + _DROPPED_SUFFIX)
        self.disk.rename(directory, away)
        return away

    def remove(self, directory: Path) -> None:
        """Delete what `drop` took away."""
        self.disk.remove_tree(directory)

    def leftovers(self) -> list[Path]:
        """Leftovers of drops that a crash interrupted."""
        return [one for depth in ("*", "*/*") for one in self.disk.glob(self.root, f"{depth}/*{_DROPPED_SUFFIX}")]


def data_directory_of(bucket: Path) -> Path:
    """The data directory that the directory of a log, or of a state, is in."""
    parent = bucket.parent
    table = parent.parent if _PARTITION.fullmatch(parent.name) else parent
    return table.parent.parent


def has_metadata(disk: Files, root: Path) -> bool:
    """Whether a server has ever been here: any file of the catalog is left."""
    return any(disk.exists((root / METADATA_FILE).with_suffix(suffix)) for suffix in _METADATA_SUFFIXES)


def stray_directories(disk: Files, root: Path, next_table_id: int, next_partition_id: int) -> list[Path]:
    """Directories with the data of tables and partitions whose ids have not been given out yet."""
    strays = []
    for database in _directories(disk, root):
        for table in _directories(disk, database):
            found = _TABLE.fullmatch(table.name)
            if found is None:
                continue
            if int(found[1]) >= next_table_id:
                if disk.glob(table, "log-*/*.log") or disk.glob(table, "*-p*/log-*/*.log"):
                    strays.append(table)
                continue
            for partition in _directories(disk, table):
                named = _PARTITION.fullmatch(partition.name)
                if named is not None and int(named[1]) >= next_partition_id:
                    strays.append(partition)
    return strays


def _directories(disk: Files, parent: Path) -> list[Path]:
    return [path for path in disk.entries(parent) if disk.is_directory(path)]
