"""DirectoryStore: a directory of this machine, or one that is mounted on it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import TypeVar

from lakeward.errors import DeniedError, ErrorCode, LakewardError, NotFoundError
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import StoredObject, checked_path
from lakeward.remote.stores.whole_files import CHUNK_BYTES, PART, beside_of, copy_chunk, make_directory
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import sync_data
from lakeward.runtime.files.private_files import share
from lakeward.runtime.files.whole_file import create_file, name_file, write_file

T = TypeVar("T")
_MKDIR_TRIES = 50
#: Backups of the metadata and the like; no reader needs them, and they may hold secrets.
_OF_THE_SERVER = "lakeward/"


class DirectoryStore:
    """A RemoteStore of files. A file is written under another name, synced and renamed."""

    def __init__(self, url: str, root: Path) -> None:
        self.url = url
        self._root = root
        self._disk = LocalFiles()
        #: Held while a directory is made and gets its first file, and while empty ones go.
        self._directories = Lock()

    async def put(self, path: str, data: bytes) -> None:
        """Store a small file, in place of what is there."""
        await self._run("written", path, lambda: self._write(path, data))

    async def create(self, path: str, data: bytes) -> bool:
        """Store a small file unless one is there; whether it was stored."""
        return await self._run("written", path, lambda: self._write_new(path, data))

    async def put_file(self, path: str, source: Path, *, pace: Pace | None = None) -> int:
        """Copy a local file into the store; its size."""
        if pace is not None:
            return await self._put_paced(path, source, pace)
        return await self._run("written", path, lambda: self._copy_in(path, source))

    async def get(self, path: str) -> bytes:
        """A whole file."""
        return await self._run("read", path, self._place(path).read_bytes)

    async def get_range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to, not including, `end`; fewer where the file ends before."""

        def read() -> bytes:
            with self._place(path).open("rb") as file:
                file.seek(start)
                return file.read(max(0, end - start))

        return await self._run("read", path, read)

    async def get_file(self, path: str, target: Path) -> int:
        """Copy a file to a local one, which appears when it is whole; its size."""

        def copy() -> int:
            beside = beside_of(target)
            try:
                shutil.copyfile(self._place(path), beside)
                beside.replace(target)
            finally:
                beside.unlink(missing_ok=True)
            return target.stat().st_size

        return await self._run("read", path, copy)

    async def head(self, path: str) -> StoredObject | None:
        """What is known of a file, None when there is none."""

        def look() -> StoredObject | None:
            try:
                found = self._place(path).stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            return StoredObject(path, found.st_size, found.st_mtime_ns // 1_000_000)

        return await self._run("read", path, look)

    async def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """The files below a directory, in order of their paths."""
        for found in await self._run("listed", prefix, lambda: sorted(self._walk(prefix), key=lambda one: one.path)):
            yield found

    async def delete(self, paths: Iterable[str]) -> None:
        """Remove files; those that are not there are fine. Directories that became empty go too."""
        for path in paths:
            await self._run("deleted", path, lambda path=path: self._remove(path))  # type: ignore[misc]

    async def delete_all(self, prefix: str) -> None:
        """Remove everything below a directory."""

        def remove() -> None:
            place = self._place(prefix)
            while place.exists():
                with contextlib.suppress(FileNotFoundError):  # others delete there too
                    shutil.rmtree(place)
            self._prune(place.parent)

        await self._run("deleted", prefix, remove)

    async def tidy(self, prefix: str) -> None:
        """Remove what interrupted writes left below a directory; nobody may be writing there."""

        def remove() -> None:
            for directory, _, names in os.walk(self._place(prefix), topdown=False):
                for name in names:
                    if name.endswith(PART):
                        Path(directory, name).unlink(missing_ok=True)
                self._prune(Path(directory))

        await self._run("tidied", prefix, remove)

    async def close(self) -> None:
        """Nothing is held."""

    # -- on a thread

    def _place(self, path: str) -> Path:
        return self._root / checked_path(path)

    def _part(self, path: str) -> Path:
        """A file beside the one to be; another process may have removed its directory a moment ago."""
        beside = beside_of(self._place(path))
        for tries_left in reversed(range(_MKDIR_TRIES)):
            try:
                with self._directories:
                    make_directory(beside.parent)
                    beside.touch()
                if not path.startswith(_OF_THE_SERVER):
                    share(beside)
            except FileNotFoundError:
                if not tries_left:
                    raise
            else:
                break
        return beside

    def _write(self, path: str, data: bytes) -> None:
        beside = self._part(path)
        try:
            write_file(self._disk, beside, (data,))
            name_file(self._disk, beside, self._place(path))
        finally:
            beside.unlink(missing_ok=True)

    def _write_new(self, path: str, data: bytes) -> bool:
        return create_file(self._disk, self._place(path), (data,), self._part(path), mode=0o666)

    def _copy_in(self, path: str, source: Path) -> int:
        beside = self._part(path)
        try:
            shutil.copyfile(source, beside)
            return self._finish(path, beside)
        finally:
            beside.unlink(missing_ok=True)

    async def _put_paced(self, path: str, source: Path, pace: Pace) -> int:
        beside = await self._run("written", path, lambda: self._part(path))
        try:
            position, size = 0, (await asyncio.to_thread(source.stat)).st_size
            while position < size:
                await pace.take(min(CHUNK_BYTES, size - position))
                await self._run("written", path, lambda at=position: copy_chunk(source, beside, at))  # type: ignore[misc]
                position += CHUNK_BYTES
            return await self._run("written", path, lambda: self._finish(path, beside))
        finally:
            await asyncio.to_thread(beside.unlink, missing_ok=True)

    def _finish(self, path: str, beside: Path) -> int:
        sync_data(self._disk, beside)
        size = self._disk.facts(beside).size
        name_file(self._disk, beside, self._place(path))
        return size

    def _walk(self, prefix: str) -> Iterator[StoredObject]:
        for directory, _, names in os.walk(self._place(prefix) if prefix else self._root):
            for name in names:
                place = Path(directory, name)
                if name.endswith(PART):
                    continue
                try:
                    found = place.stat()
                except FileNotFoundError:
                    continue
                yield StoredObject(
                    place.relative_to(self._root).as_posix(), found.st_size, found.st_mtime_ns // 1_000_000
                )

    def _remove(self, path: str) -> None:
        place = self._place(path)
        place.unlink(missing_ok=True)
        self._prune(place.parent)

    def _prune(self, directory: Path) -> None:
        while directory != self._root and self._root in directory.parents:
            try:
                with self._directories:
                    directory.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return
            directory = directory.parent

    async def _run(self, done: str, path: str, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except OSError as wrong:
            raise self._failure(done, path, wrong) from wrong

    def _failure(self, done: str, path: str, wrong: OSError) -> LakewardError:
        place = self._root / path
        if isinstance(wrong, FileNotFoundError) and done != "written":
            return NotFoundError(ErrorCode.STORAGE, f"{place} does not exist.")
        if isinstance(wrong, PermissionError):
            who = f"the user {os.getuid()}" if hasattr(os, "getuid") else "this user"
            return DeniedError(ErrorCode.STORAGE, f"{place} cannot be {done}: {who} is not allowed to.")
        reason = (wrong.strerror or str(wrong)).lower()
        return ErrorCode.STORAGE.error(f"{place} cannot be {done}: {reason}.")
