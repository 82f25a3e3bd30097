"""A disk that is full when a test says so."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.runtime.files.local_files import LocalFile, LocalFiles
from lakeward.runtime.files.port import Bytes, How


class FailingFile(LocalFile):
    """An open file on it."""

    __slots__ = ("_files", "_real_pwrite")

    def __init__(self, files: FailingFiles, file: LocalFile) -> None:
        super().__init__(file._descriptor)
        self._files = files
        self._real_pwrite = self.pwrite
        self.pwrite = self._write  # type: ignore[assignment]

    def _write(self, data: Bytes, position: int) -> int:
        room = self._files.room
        if room is None:
            return self._real_pwrite(data, position)
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._files.room = 0
        return self._real_pwrite(data[:room], position)

    def sync(self) -> None:
        """Nothing can be synced either."""
        if self._files.room is not None:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().sync()


class FailingFiles(LocalFiles):
    """The disk of this machine, until it is full."""

    def __init__(self) -> None:
        #: How many bytes of the next write fit; None when there is room.
        self.room: int | None = None

    def open(self, path: Path, how: How = How.READ, mode: int = 0o644) -> LocalFile:
        """Open a file that may fail later."""
        return FailingFile(self, super().open(path, how, mode))

    @contextmanager
    def full(self, written_bytes: int = 0) -> Iterator[None]:
        """Nothing more fits on the disk but so many bytes of the next write."""
        self.room = written_bytes
        try:
            yield
        finally:
            self.room = None
