"""Whole files or none: written beside, synced, renamed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.private_files import share

CHUNK_BYTES = 4 << 20
#: How the names of files end that are not whole.
PART = ".part"
#: What network file systems answer to links and to syncing a directory, when they have no such thing.
_NOT_SUPPORTED = {errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def beside_of(path: Path) -> Path:
    """A name beside a file for what it is to become."""
    return path.with_name(f".{path.name}.{SystemEntropy().uuid().hex[:12]}{PART}")


def write_synced(path: Path, data: bytes) -> None:
    """Write a file that survives a power cut."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def copy_chunk(source: Path, target: Path, position: int) -> None:
    """Copy some bytes of a file to the same place in another."""
    with source.open("rb") as reader, target.open("r+b") as writer:
        reader.seek(position)
        writer.seek(position)
        writer.write(reader.read(CHUNK_BYTES))


def make_directory(directory: Path) -> None:
    """With those above it, so that they survive a power cut."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        share(one)
        sync_directory(one.parent)


def link_new(source: Path, target: Path, data: bytes) -> None:
    """Give a file its name, unless another has it; where files have one name only, write it there."""
    try:
        os.link(source, target)
    except OSError as wrong:
        if wrong.errno not in _NOT_SUPPORTED:
            raise
        with target.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Make names in a directory survive a power cut, where the file system can."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as wrong:
        if wrong.errno not in _NOT_SUPPORTED:
            raise
    finally:
        os.close(descriptor)
