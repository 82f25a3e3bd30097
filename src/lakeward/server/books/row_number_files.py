"""RowNumberFiles: the counters behind auto-increment columns in files, where several processes take numbers of a table.

<data.dir>/.row-numbers/<table id>      the counter as text; whoever changes it has the file locked meanwhile
"""

from __future__ import annotations

from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.runtime.files.port import File, Files, write_all
from lakeward.runtime.files.private_files import DIRECTORY_MODE

_DIRECTORY = ".row-numbers"
_DIGITS = 20
#: Another process has a counter locked for the time of one sync; so often it is tried meanwhile.
_TRIES = 1_000_000


class RowNumberFiles:
    """One counter per table, shared by all who have the directory."""

    def __init__(self, disk: Files, root: Path) -> None:
        self._disk = disk
        self._directory = root / _DIRECTORY

    def reserve(self, table_id: int, count: int) -> int:
        """Advance a table's counter; returns what it was before. On disk before anybody has a number."""
        file = self._lock(table_id)
        try:
            before = _read(file)
            _write(file, before + count)
        finally:
            file.close()
        return before

    def raise_to(self, table_id: int, value: int) -> None:
        """Let a counter be at least so much."""
        file = self._lock(table_id)
        try:
            if _read(file) < value:
                _write(file, value)
        finally:
            file.close()

    def all(self) -> dict[int, int]:
        """The counters that there are."""
        found = self._disk.glob(self._directory, "*")
        return {int(path.name): int(self._disk.read_bytes(path) or 0) for path in found}

    def remove_all(self) -> None:
        """They are kept elsewhere from now on."""
        for path in self._disk.glob(self._directory, "*"):
            self._disk.unlink(path)

    def _lock(self, table_id: int) -> File:
        self._disk.make_directory(self._directory, DIRECTORY_MODE)
        for _ in range(_TRIES):
            file = self._disk.lock(self._directory / str(table_id))
            if file is not None:
                return file
        raise ErrorCode.STORAGE.error(f"The counter of table {table_id} in {self._directory} stays locked.")


def _read(file: File) -> int:
    return int(file.pread(_DIGITS, 0) or 0)


def _write(file: File, value: int) -> None:
    write_all(file, f"{value:0{_DIGITS}d}".encode(), 0)
    file.sync()
