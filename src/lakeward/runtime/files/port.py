"""Files: where bytes are kept. A disk, or memory that can be cut off at any write.

All that the server keeps goes through here, so that a test can stop it between two calls, take away what was not
synced, and start it again on the rest. Errors are the system's: FileNotFoundError and the other kinds of OSError.
"""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple, Protocol

#: What a new file is written from, and what goes into one.
Bytes = bytes | bytearray | memoryview


class How(Enum):
    """What a file is opened for."""

    READ = auto()
    #: To read and write one that is there.
    EDIT = auto()
    #: The same; it is made where it is missing.
    CREATE = auto()
    #: The same; what was in it goes.
    EMPTY = auto()
    #: The same; FileExistsError when it is there.
    NEW = auto()


class FileFacts(NamedTuple):
    """What is known of a file without reading it."""

    size: int
    modified_ns: int
    #: The same for two names of one file.
    number: int


class Space(NamedTuple):
    """How much room a disk has, for whom it belongs to: what is kept back for root is no part of it."""

    free_bytes: int
    total_bytes: int


class File(Protocol):
    """An open file."""

    def pread(self, size: int, position: int, /) -> bytes:
        """So many bytes from a position on; fewer where the file ends."""
        ...

    def pwrite(self, data: Bytes, position: int, /) -> int:
        """Write at a position; returns how many bytes were written."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file, or lengthen it by zeros."""
        ...

    def reserve(self, position: int, size: int) -> None:
        """Take room on the disk; the file is at least that long afterwards. OSError where that is impossible."""
        ...

    def facts(self) -> FileFacts:
        """Size, time and number."""
        ...

    def sync(self) -> None:
        """Wait until the file survives a power cut; its name does when the directory is synced."""
        ...

    def sync_data(self) -> None:
        """The same without times and modes."""
        ...

    def close(self) -> None:
        """Give the descriptor back."""
        ...


class Files(Protocol):
    """A file system."""

    @property
    def boot_id(self) -> str:
        """What tells whether the machine has been restarted since."""
        ...

    def open(self, path: Path, how: How = How.READ, mode: int = 0o644) -> File:
        """Open a file."""
        ...

    def lock(self, path: Path) -> File | None:
        """A file that is ours until it is closed; None while another process has it."""
        ...

    def read_bytes(self, path: Path) -> bytes:
        """All of a file."""
        ...

    def facts(self, path: Path) -> FileFacts:
        """Size, time and number of a file."""
        ...

    def exists(self, path: Path) -> bool:
        """Whether there is a file or directory of this name."""
        ...

    def is_directory(self, path: Path) -> bool:
        """Whether there is a directory of this name."""
        ...

    def entries(self, directory: Path) -> list[Path]:
        """What is in a directory, in order of names."""
        ...

    def glob(self, directory: Path, pattern: str) -> list[Path]:
        """What matches a pattern below a directory, in order; nothing where there is no directory."""
        ...

    def make_directory(self, path: Path, mode: int = 0o777) -> None:
        """Make a directory, and those above it, where they are missing."""
        ...

    def resolve(self, path: Path) -> Path:
        """The true path, without links and dots."""
        ...

    def tighten(self, directory: Path) -> None:
        """Take a directory with all that is in it away from others, if they could look into it."""
        ...

    def is_private(self, path: Path) -> bool:
        """Whether nobody but its owner can read or change a file."""
        ...

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or directory another name; a file of that name goes."""
        ...

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name; FileExistsError when it is taken."""
        ...

    def unlink(self, path: Path) -> None:
        """Take a file's name away, if it is there."""
        ...

    def remove_directory(self, path: Path) -> None:
        """Remove a directory that is empty."""
        ...

    def remove_tree(self, path: Path) -> None:
        """Remove a directory with all that is in it, as far as possible."""
        ...

    def sync_directory(self, path: Path) -> None:
        """Wait until the names in a directory survive a power cut, where the file system can."""
        ...

    def set_time(self, path: Path, time_ms: int) -> None:
        """Say when a file was last changed."""
        ...

    def space(self, path: Path) -> Space:
        """The room of the disk that a directory is on."""
        ...


def write_all(file: File, data: Bytes, position: int) -> int:
    """Write all of it, however many calls that takes; returns the position after it."""
    view = memoryview(data)
    while view:
        done = file.pwrite(view, position)
        position += done
        view = view[done:]
    return position


def sync_data(files: Files, path: Path) -> None:
    """Wait until a file's content is on disk; a file that has gone needs no sync."""
    try:
        file = files.open(path)
    except FileNotFoundError:
        return
    try:
        file.sync_data()
    finally:
        file.close()
