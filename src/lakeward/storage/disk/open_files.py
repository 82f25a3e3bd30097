"""A bounded set of open files.

Ten thousand buckets must not need ten thousand descriptors. Files are opened when they are touched and the ones
touched longest ago are closed. Bytes are copied out, never mapped: a map of a file that somebody cuts off kills the
process (SIGBUS), a read of it is merely short.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.port import Files, How


def storage_error(path: Path, wrong: OSError) -> LakewardError:
    """What clients are told when the disk fails; they try again."""
    return ErrorCode.LOG_STORAGE.error(f"{path} could not be read or written: {wrong.strerror}.")


class OpenFile:
    """One open file."""

    __slots__ = ("_pread", "close", "path", "pwrite", "truncate")

    def __init__(self, disk: Files, path: Path, *, create: bool = False) -> None:
        self.path = path
        try:
            file = disk.open(path, How.CREATE if create else How.EDIT)
        except OSError as wrong:
            raise storage_error(path, wrong) from wrong
        # Bound here, so that an append and a read call the system without a detour.
        self._pread, self.pwrite, self.truncate, self.close = file.pread, file.pwrite, file.truncate, file.close

    def read(self, start: int, end: int) -> memoryview:
        """The bytes between two positions; fewer when the file is shorter than that."""
        try:
            return memoryview(self._pread(end - start, start))
        except OSError as wrong:
            raise storage_error(self.path, wrong) from wrong


class OpenFiles:
    """The files that are open now, at most `limit` of them."""

    def __init__(self, disk: Files, limit: int) -> None:
        self.disk = disk
        self._limit = limit
        self._files: OrderedDict[Path, OpenFile] = OrderedDict()

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: Path, *, create: bool = False) -> OpenFile:
        """The open file at a path; opens it, and closes another one when there are too many.

        A file that should be there and is not is never created: it would look like an empty one.
        """
        file = self._files.get(path)
        if file is not None:
            self._files.move_to_end(path)
            return file
        while len(self._files) >= self._limit:
            self._files.popitem(last=False)[1].close()
        file = self._files[path] = OpenFile(self.disk, path, create=create)
        return file

    def forget(self, path: Path) -> None:
        """Close a file that will be renamed, cut or deleted."""
        file = self._files.pop(path, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Close everything."""
        while self._files:
            self._files.popitem()[1].close()
