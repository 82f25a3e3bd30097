"""Directory: where staged writes keep their files; LocalDirectory, one of this machine.

`create_once` is what exactly-once rests on: of two who create the same name one wins, and readers see all of a file or
none of it.

    local, NFS      holds: a hard link to a finished, synced file
    hdfs            holds: a rename, which HDFS refuses when the name is taken
    object stores   a name that exists is left alone, but two who create it in the same moment may both believe that
                    they won: pyarrow.fs has no conditional put. It takes two live drivers of one query, which Spark's
                    own checkpoint does not survive either.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import sync_data
from lakeward.runtime.files.private_files import new_private_file, private_directory
from lakeward.runtime.files.whole_file import create_file, name_file, sync_names, write_file


class DirectoryEntry(NamedTuple):
    """A file in a directory."""

    name: str
    modified_ms: int


class Directory(Protocol):
    """Files by name; a name may hold slashes."""

    uri: str

    def create_once(self, name: str, pieces: Iterable[bytes | memoryview]) -> bool:
        """Write a file that must not exist; False when somebody was first. It survives a crash of the machine."""
        ...

    def replace(self, name: str, data: bytes) -> None:
        """Write a file, whatever was there before."""
        ...

    def open_new(self, name: str) -> Any:
        """A stream into a new file; to be closed by `close_durably`."""
        ...

    def close_durably(self, stream: Any) -> None:
        """Close a stream so that the file survives a crash of the machine."""
        ...

    def read(self, name: str) -> bytes | None:
        """All of a file; None when it is not there."""
        ...

    def read_at(self, name: str, position: int, size: int) -> bytearray:
        """A stretch of a file."""
        ...

    def files(self, below: str = "") -> list[DirectoryEntry]:
        """The files directly in a sub-directory; none when it is not there."""
        ...

    def subdirectories(self, below: str) -> list[str]:
        """The names of the directories directly in a sub-directory."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        ...

    def delete_tree(self, name: str) -> None:
        """Delete a sub-directory with all that is in it, if it is there."""
        ...


class LocalDirectory:
    """A directory of this machine, or one that is mounted on it."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self.uri = str(self._path)
        self._disk = LocalFiles()

    def create_once(self, name: str, pieces: Iterable[bytes | memoryview]) -> bool:
        """Write aside, sync, then link: a link fails when the name is taken, a rename would not."""
        path = self._path / name
        with _explain_errors(f"write {path}"):
            private_directory(path.parent)
            return create_file(self._disk, path, pieces, _aside(path))

    def replace(self, name: str, data: bytes) -> None:
        """Write aside, then rename."""
        path = self._path / name
        with _explain_errors(f"write {path}"):
            private_directory(path.parent)
            aside = _aside(path)
            write_file(self._disk, aside, (data,))
            name_file(self._disk, aside, path)

    def open_new(self, name: str) -> BinaryIO:
        """A new file."""
        path = self._path / name
        with _explain_errors(f"write {path}"):
            private_directory(path.parent)
            return new_private_file(path)

    def close_durably(self, stream: BinaryIO) -> None:
        """Sync file and directory."""
        with _explain_errors(f"write {stream.name}"):
            stream.close()
            sync_data(self._disk, Path(stream.name))
            sync_names(self._disk, Path(stream.name))

    def read(self, name: str) -> bytes | None:
        """All of a file."""
        path = self._path / name
        with _explain_errors(f"read {path}"):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def read_at(self, name: str, position: int, size: int) -> bytearray:
        """A stretch of a file."""
        path = self._path / name
        data = bytearray(size)
        with _explain_errors(f"read {path}"), path.open("rb", buffering=0) as file:
            file.seek(position)
            if file.readinto(data) != size:
                raise cut_off(str(path), position, size)
        return data

    def files(self, below: str = "") -> list[DirectoryEntry]:
        """The files, without those that are being written."""
        with _explain_errors(f"list {self._path / below}"):
            try:
                entries = list(os.scandir(self._path / below))
            except FileNotFoundError:
                return []
            return [found for e in entries if (found := _entry_of(e)) is not None]

    def subdirectories(self, below: str) -> list[str]:
        """The directories."""
        with _explain_errors(f"list {self._path / below}"):
            try:
                return [e.name for e in os.scandir(self._path / below) if e.is_dir()]
            except FileNotFoundError:
                return []

    def delete(self, name: str) -> None:
        """Unlink."""
        with _explain_errors(f"delete {self._path / name}"):
            (self._path / name).unlink(missing_ok=True)

    def delete_tree(self, name: str) -> None:
        """Remove recursively."""
        shutil.rmtree(self._path / name, ignore_errors=True)  # who still writes there was given up


def _entry_of(entry: os.DirEntry[str]) -> DirectoryEntry | None:
    """A file that is finished and still there."""
    if entry.name.startswith(".") or not entry.is_file():
        return None
    try:
        return DirectoryEntry(entry.name, entry.stat().st_mtime_ns // 1_000_000)
    except FileNotFoundError:
        return None


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{SystemEntropy().uuid().hex}")


def cut_off(name: str, position: int, size: int) -> LakewardError:
    """The error of a file that is shorter than what points into it."""
    return ErrorCode.CORRUPT_RECORD.error(f"{name} ends before byte {position + size}; was it cut off?")


@contextmanager
def _explain_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        raise ErrorCode.STORAGE.error(
            f"Cannot {what}: {wrong.strerror or wrong}. The staging directory must be one that the driver and all "
            "tasks can reach."
        ) from wrong
