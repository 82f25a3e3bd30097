"""LocalFiles: the file system of this machine."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from functools import cached_property, partial
from pathlib import Path

from lakeward.runtime.files.port import FileFacts, How, Space
from lakeward.runtime.files.private_files import FILE_MODE, is_private, tighten

_FLAGS = {
    How.READ: os.O_RDONLY,
    How.EDIT: os.O_RDWR,
    How.CREATE: os.O_RDWR | os.O_CREAT,
    How.EMPTY: os.O_RDWR | os.O_CREAT | os.O_TRUNC,
    How.NEW: os.O_RDWR | os.O_CREAT | os.O_EXCL,
}
#: What network file systems answer to syncing a directory, when they have no such thing.
NOT_SUPPORTED = {errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class LocalFile:
    """An open file. Reading and writing are the system's calls themselves: nothing of ours is run in between."""

    __slots__ = ("_descriptor", "pread", "pwrite")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.pread = partial(os.pread, descriptor)
        self.pwrite = partial(os.pwrite, descriptor)

    @property
    def number(self) -> int:
        """The descriptor, for a child that is to have it, too."""
        return self._descriptor

    def truncate(self, size: int) -> None:
        """Cut the file, or lengthen it by zeros."""
        os.ftruncate(self._descriptor, size)

    def reserve(self, position: int, size: int) -> None:
        """Take room on the disk."""
        os.posix_fallocate(self._descriptor, position, size)

    def facts(self) -> FileFacts:
        """Size, time and number."""
        return _facts(os.fstat(self._descriptor))

    def sync(self) -> None:
        """Wait until the file survives a power cut."""
        os.fsync(self._descriptor)

    def sync_data(self) -> None:
        """The same without times and modes."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)


class LocalFiles:
    """The disk."""

    @cached_property
    def boot_id(self) -> str:
        """What Linux calls this start of the machine; nothing elsewhere."""
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        except OSError:
            return ""

    def open(self, path: Path, how: How = How.READ, mode: int = 0o644) -> LocalFile:
        """Open a file."""
        return LocalFile(os.open(path, _FLAGS[how], mode))

    def lock(self, path: Path) -> LocalFile | None:
        """A file that is ours until it is closed, or the process ends."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return LocalFile(descriptor)

    def read_bytes(self, path: Path) -> bytes:
        """All of a file."""
        return path.read_bytes()

    def facts(self, path: Path) -> FileFacts:
        """Size, time and number of a file."""
        return _facts(path.stat())

    def exists(self, path: Path) -> bool:
        """Whether there is a file or directory of this name."""
        return path.exists()

    def is_directory(self, path: Path) -> bool:
        """Whether there is a directory of this name."""
        return path.is_dir()

    def entries(self, directory: Path) -> list[Path]:
        """What is in a directory, in order of names."""
        return sorted(directory.iterdir())

    def glob(self, directory: Path, pattern: str) -> list[Path]:
        """What matches a pattern below a directory."""
        return sorted(directory.glob(pattern))

    def make_directory(self, path: Path, mode: int = 0o777) -> None:
        """Make a directory, and those above it."""
        path.mkdir(mode=mode, parents=True, exist_ok=True)

    def resolve(self, path: Path) -> Path:
        """The true path."""
        return path.resolve()

    def tighten(self, directory: Path) -> None:
        """Take a directory away from others."""
        tighten(directory)

    def is_private(self, path: Path) -> bool:
        """Whether its mode leaves others nothing."""
        return is_private(path)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or directory another name."""
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        """Take a file's name away, if it is there."""
        path.unlink(missing_ok=True)

    def remove_directory(self, path: Path) -> None:
        """Remove a directory that is empty."""
        path.rmdir()

    def remove_tree(self, path: Path) -> None:
        """Remove a directory with all that is in it."""
        shutil.rmtree(path, ignore_errors=True)

    def sync_directory(self, path: Path) -> None:
        """Wait until the names in a directory survive a power cut, where the file system can."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as wrong:
            if wrong.errno not in NOT_SUPPORTED:
                raise
        finally:
            os.close(descriptor)

    def set_time(self, path: Path, time_ms: int) -> None:
        """Say when a file was last changed."""
        os.utime(path, (time_ms / 1000, time_ms / 1000))

    def space(self, path: Path) -> Space:
        """The room of the disk that a directory is on."""
        return space_of(os.statvfs(path))


def space_of(found: os.statvfs_result) -> Space:
    """The room of a file system as `df` counts it: blocks kept for root are neither free nor in use."""
    used = found.f_blocks - found.f_bfree
    return Space(found.f_bavail * found.f_frsize, (used + found.f_bavail) * found.f_frsize)


def _facts(found: os.stat_result) -> FileFacts:
    return FileFacts(found.st_size, found.st_mtime_ns, found.st_ino)
