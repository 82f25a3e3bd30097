"""A bounded set of open files.

Ten thousand buckets must not need ten thousand descriptors. Files are opened when they are touched and the ones
touched longest ago are closed. Bytes are copied out, never mapped: a map of a file that somebody cuts off kills the
process (SIGBUS), a read of it is merely short.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError


def storage_error(path: Path, wrong: OSError) -> LakewardError:
    """What clients are told when the disk fails; they try again."""
    return ErrorCode.LOG_STORAGE.error(f"{path} could not be read or written: {wrong.strerror}.")


class OpenFile:
    """One open file."""

    __slots__ = ("descriptor", "path")

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        try:
            self.descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o644)
        except OSError as wrong:
            raise storage_error(path, wrong) from wrong

    def read(self, start: int, end: int) -> memoryview:
        """The bytes between two positions; fewer when the file is shorter than that."""
        try:
            return memoryview(os.pread(self.descriptor, end - start, start))
        except OSError as wrong:
            raise storage_error(self.path, wrong) from wrong

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)


class OpenFiles:
    """The files that are open now, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
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
        file = self._files[path] = OpenFile(path, create=create)
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
