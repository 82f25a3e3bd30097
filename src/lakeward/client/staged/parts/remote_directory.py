"""RemoteDirectory: a directory of any file system that pyarrow knows (hdfs, s3, gs, abfss, …)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyarrow import ArrowException, fs

from lakeward.client.staged.parts.directory import DirectoryEntry, cut_off
from lakeward.errors import ErrorCode
from lakeward.runtime.entropy import SystemEntropy


class RemoteDirectory:
    """Files of a file system by URI. `rename_refuses`: a rename fails when the new name is taken."""

    def __init__(self, uri: str, *, rename_refuses: bool = False, files: fs.FileSystem | None = None) -> None:
        self.uri = uri.rstrip("/")
        self._rename_refuses = rename_refuses
        with self._explain_errors("open"):
            self._fs: fs.FileSystem = files
            self._root: str = self.uri
            if files is None:
                self._fs, self._root = fs.FileSystem.from_uri(self.uri)

    def create_once(self, name: str, pieces: Iterable[bytes | memoryview]) -> bool:
        """By a rename that refuses, or by looking first; a file of an object store appears whole or not at all."""
        path = self._path(name)
        with self._explain_errors(f"write {name}"):
            if self._exists(path):
                return False
            self._fs.create_dir(path.rpartition("/")[0], recursive=True)
            if not self._rename_refuses:
                self._write(path, pieces)
                return True
            aside = f"{path}.{SystemEntropy().uuid().hex}.tmp"
            self._write(aside, pieces)
            try:
                self._fs.move(aside, path)
            except OSError:
                if not self._exists(path):
                    raise
                self._fs.delete_file(aside)
                return False
            return True

    def replace(self, name: str, data: bytes) -> None:
        """One put."""
        path = self._path(name)
        with self._explain_errors(f"write {name}"):
            self._fs.create_dir(path.rpartition("/")[0], recursive=True)
            self._write(path, [data])

    def open_new(self, name: str) -> Any:
        """A stream; large files are uploaded while they are written."""
        path = self._path(name)
        with self._explain_errors(f"write {name}"):
            self._fs.create_dir(path.rpartition("/")[0], recursive=True)
            return self._fs.open_output_stream(path)

    def close_durably(self, stream: Any) -> None:
        """What is closed is stored."""
        with self._explain_errors("close a file"):
            stream.close()

    def read(self, name: str) -> bytes | None:
        """All of a file."""
        with self._explain_errors(f"read {name}"):
            try:
                with self._fs.open_input_stream(self._path(name)) as stream:
                    return bytes(stream.read())
            except FileNotFoundError:
                return None

    def read_at(self, name: str, position: int, size: int) -> bytearray:
        """A stretch of a file."""
        with self._explain_errors(f"read {name}"), self._fs.open_input_file(self._path(name)) as file:
            data = bytearray(file.read_at(size, position))
        if len(data) != size:
            raise cut_off(f"{self.uri}/{name}", position, size)
        return data

    def files(self, below: str = "") -> list[DirectoryEntry]:
        """The files that are finished."""
        return [
            DirectoryEntry(i.base_name, 0 if i.mtime_ns is None else i.mtime_ns // 1_000_000)
            for i in self._infos(below)
            if i.type is fs.FileType.File and not i.base_name.endswith(".tmp")
        ]

    def subdirectories(self, below: str) -> list[str]:
        """The directories."""
        return [i.base_name for i in self._infos(below) if i.type is fs.FileType.Directory]

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        with self._explain_errors(f"delete {name}"):
            try:
                self._fs.delete_file(self._path(name))
            except FileNotFoundError:
                return

    def delete_tree(self, name: str) -> None:
        """Delete recursively."""
        with self._explain_errors(f"delete {name}"):
            try:
                self._fs.delete_dir(self._path(name))
            except FileNotFoundError:
                return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)

    def _exists(self, path: str) -> bool:
        return bool(self._fs.get_file_info(path).type is not fs.FileType.NotFound)

    def _infos(self, below: str) -> list[fs.FileInfo]:
        with self._explain_errors(f"list {below or 'it'}"):
            found: list[fs.FileInfo] = self._fs.get_file_info(
                fs.FileSelector(self._path(below), allow_not_found=True, recursive=False)
            )
            return found

    def _write(self, path: str, pieces: Iterable[bytes | memoryview]) -> None:
        with self._fs.open_output_stream(path) as stream:
            for piece in pieces:
                stream.write(piece)

    @contextmanager
    def _explain_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ArrowException) as wrong:
            raise ErrorCode.STORAGE.error(f"{self.uri}: cannot {what}: {wrong}") from wrong
