"""CacheDirectory: a directory for files of one process, gone at its end, swept when it was killed.

The process holds a lock on its directory. A directory of ours that nobody holds was left by a process that is no more.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.runtime.process.process_lock import try_lock

_PREFIX = "lakeward-remote-log-"
_TRIES = 5


class CacheDirectory:
    """A new directory below `parent`."""

    def __init__(self, parent: Path) -> None:
        self._owner = os.getpid()
        try:
            parent.mkdir(parents=True, exist_ok=True)
            sweep(parent)
            self.path, self._lock = _make_directory(parent)
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(
                f"Remote log segments cannot be put into {parent}: {wrong}. Set client.scanner.io.tmpdir to a "
                f"directory with room."
            ) from wrong
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the directory with all files; harmless when done before, and in a process that only inherited it."""
        if self._lock is not None and self._owner == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None
            atexit.unregister(self.remove)


def sweep(parent: Path) -> None:
    """Remove the directories of processes that are no more."""
    for path in parent.glob(f"{_PREFIX}*"):
        lock = _try_lock(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _make_directory(parent: Path) -> tuple[Path, int | None]:
    for _ in range(_TRIES):
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = _try_lock(path)
        if lock is not None:
            if path.exists():
                return path, lock
            os.close(lock)  # another process swept it before we held it
    raise OSError("other processes sweep it all the time")


def _try_lock(path: Path) -> int | None:
    """The lock on a directory, None when another holds it or it is not ours."""
    try:
        return try_lock(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
