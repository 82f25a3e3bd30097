"""Files for their owner alone, and those of remote storage, which others are meant to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_PRIVATE_UMASK = 0o077
_OTHERS = 0o077

_shared_umask: int | None = None


def keep_private() -> None:
    """From now on what this process creates is for its owner, whatever library creates it."""
    global _shared_umask  # noqa: PLW0603 - the umask is the process's, not an object's
    _shared_umask = os.umask(_PRIVATE_UMASK)


def share(made: Path) -> None:
    """Give something that was just made to those who could read it if `keep_private` had not been called."""
    if _shared_umask is not None:
        full = 0o777 if made.is_dir() else 0o666
        made.chmod(full & ~_shared_umask)


def private_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing, for their owner alone."""
    if not path.is_dir():
        private_directory(path.parent)
        path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)


def new_private_file(path: Path) -> BinaryIO:
    """A file that was not there, for its owner alone."""
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, FILE_MODE))


def is_private(path: Path) -> bool:
    """Whether nobody but its owner can read or change a file."""
    return not path.stat().st_mode & _OTHERS


def tighten(directory: Path) -> None:
    """Take a directory with all that is in it away from others, if they could look into it."""
    if not directory.stat().st_mode & _OTHERS:
        return
    for parent, _, names in os.walk(directory):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                path.chmod(FILE_MODE)
        Path(parent).chmod(DIRECTORY_MODE)
