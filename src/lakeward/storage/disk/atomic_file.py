"""Small files replaced atomically: a reader sees the old content or the new, never a part."""

from __future__ import annotations

import os
from pathlib import Path

from lakeward.runtime.private_files import FILE_MODE


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file beside the old one and rename it into place; `durable` also survives a power cut."""
    beside = path.with_name(path.name + ".tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
    except OSError:
        beside.unlink(missing_ok=True)  # half a file would take the room that is missing
        raise
    beside.replace(path)
    if durable:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames and new files in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
