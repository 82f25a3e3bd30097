"""AuditFile: lines in audit.jsonl, which begins anew when it is large.

<audit.dir>/
  audit.jsonl        the newest
  audit.1.jsonl …    older ones, the oldest with the highest number; more than `audit.max-files` are not kept

A line is with the system before the next request is looked at: the death of the process costs none, a power cut the
last few. Files are their owner's alone.
"""

from __future__ import annotations

from pathlib import Path

from lakeward.runtime.files.port import File, Files, How, write_all
from lakeward.runtime.files.private_files import DIRECTORY_MODE, FILE_MODE

NAME = "audit.jsonl"


class AuditFile:
    """One line after the other. Errors are the system's, and the caller's to report."""

    def __init__(self, disk: Files, directory: Path, bytes_max: int, files_max: int) -> None:
        self._disk = disk
        self._directory = directory
        self._bytes_max = bytes_max
        self._files_max = files_max
        self._file: File | None = None
        self._size = 0

    def write(self, line: bytes) -> None:
        """Add a line, given with its end."""
        file = self._open_file()
        if self._size and self._size + len(line) > self._bytes_max:
            self._file = None
            file.close()  # without a sync: requests wait here
            self._shift()
            file = self._open_file()
        self._size = write_all(file, line, self._size)

    def close(self) -> None:
        """Give the descriptor back, with all that was written on disk."""
        if self._file is not None:
            file, self._file = self._file, None
            try:
                file.sync()
            finally:
                file.close()

    def _open_file(self) -> File:
        if self._file is None:
            self._disk.make_directory(self._directory, DIRECTORY_MODE)
            self._file = self._disk.open(self._path(0), How.CREATE, FILE_MODE)
            self._size = self._file.facts().size
            if self._size and self._file.pread(1, self._size - 1) != b"\n":
                self._size = write_all(self._file, b"\n", self._size)  # a line that was cut off stays alone
        return self._file

    def _shift(self) -> None:
        for number in range(self._files_max - 1, 0, -1):
            if self._disk.exists(self._path(number - 1)):
                self._disk.rename(self._path(number - 1), self._path(number))
        if self._files_max == 1:
            self._disk.unlink(self._path(0))

    def _path(self, number: int) -> Path:
        path = self._directory / NAME
        return path.with_suffix(f".{number}{path.suffix}") if number else path
