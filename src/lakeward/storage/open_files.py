"""A bounded set of open files and their maps.

Ten thousand buckets must not need ten thousand descriptors. Files are opened when they are touched and the ones
touched longest ago are closed. A map that somebody still reads from stays alive until that view is gone.
"""

from __future__ import annotations

import mmap
import os
from collections import OrderedDict
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError

#: Below this size a copy is cheaper than the page faults of a map.
_COPY_BYTES_MAX = 64 * 1024


def storage_error(path: Path, wrong: OSError) -> LakewardError:
    """What clients are told when the disk fails; they try again."""
    return ErrorCode.LOG_STORAGE.error(f"{path} could not be read or written: {wrong.strerror}.")


class OpenFile:
    """One open file, read by copying small ranges and mapping large ones."""

    __slots__ = ("_map", "descriptor", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as wrong:
            raise storage_error(path, wrong) from wrong
        self._map: mmap.mmap | None = None

    def read(self, start: int, end: int) -> memoryview:
        """The bytes between two positions; the caller knows that they have been written."""
        try:
            if end - start <= _COPY_BYTES_MAX:
                return memoryview(os.pread(self.descriptor, end - start, start))
            if self._map is None or len(self._map) < end:
                # The old map is dropped, not closed: answers on their way may still point into it.
                self._map = mmap.mmap(self.descriptor, 0, prot=mmap.PROT_READ)
        except OSError as wrong:
            raise storage_error(self.path, wrong) from wrong
        return memoryview(self._map)[start:end]

    def close(self) -> None:
        """Give the descriptor back."""
        self._map = None
        os.close(self.descriptor)


class OpenFiles:
    """The files that are open now, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._files: OrderedDict[Path, OpenFile] = OrderedDict()

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: Path) -> OpenFile:
        """The open file at a path; opens it, and closes another one when there are too many."""
        file = self._files.get(path)
        if file is not None:
            self._files.move_to_end(path)
            return file
        while len(self._files) >= self._limit:
            self._files.popitem(last=False)[1].close()
        file = self._files[path] = OpenFile(path)
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
