"""A file that must last, written in the one way that keeps it: beside, synced, named, the name synced.

A reader, and whoever comes after a crash, sees the old content or the new, never a part.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from lakeward.runtime.files.local_files import NOT_SUPPORTED
from lakeward.runtime.files.port import Bytes, Files, How, write_all
from lakeward.runtime.files.private_files import FILE_MODE


def replace_file(files: Files, path: Path, content: Bytes, *, durable: bool = True, mode: int = FILE_MODE) -> None:
    """Write a file in place of what is there; `durable` also survives a power cut."""
    beside = path.with_name(path.name + ".tmp")
    write_file(files, beside, (content,), durable=durable, mode=mode)
    name_file(files, beside, path, durable=durable)


def create_file(files: Files, path: Path, pieces: Iterable[Bytes], beside: Path, *, mode: int = FILE_MODE) -> bool:
    """Write a file unless there is one of that name, which then stays; `beside` is where it is written first."""
    try:
        write_file(files, beside, pieces, mode=mode)
        try:
            files.link(beside, path)  # fails when the name is taken; a rename would not
        except OSError as wrong:
            if wrong.errno not in NOT_SUPPORTED:
                raise
            write_file(files, path, (files.read_bytes(beside),), how=How.NEW, mode=mode)  # one name is all it may have
    except FileExistsError:
        return False
    finally:
        files.unlink(beside)
    sync_names(files, path)
    return True


def write_file(
    files: Files,
    path: Path,
    pieces: Iterable[Bytes],
    *,
    durable: bool = True,
    how: How = How.EMPTY,
    mode: int = FILE_MODE,
) -> None:
    """Write a file under a name that nobody reads yet; what cannot be written whole is not left there."""
    file = files.open(path, how, mode)
    try:
        position = 0
        for piece in pieces:
            position = write_all(file, piece, position)
        if durable:
            file.sync()
    except BaseException:
        files.unlink(path)  # half a file would take the room that is missing
        raise
    finally:
        file.close()


def name_file(files: Files, beside: Path, path: Path, *, durable: bool = True) -> None:
    """Let a file that was written beside take its place."""
    files.rename(beside, path)
    if durable:
        sync_names(files, path)


def sync_names(files: Files, path: Path) -> None:
    """Make the name of a file last; if somebody removed it with its directory meanwhile, there is nothing to keep."""
    with contextlib.suppress(FileNotFoundError):
        files.sync_directory(path.parent)


def make_lasting_directory(files: Files, directory: Path, mode: int = 0o777) -> list[Path]:
    """Make a directory, and those above it, that survive a power cut; returns those that were missing."""
    missing = []
    while not files.exists(directory):
        missing.append(directory)
        directory = directory.parent
    for one in reversed(missing):
        files.make_directory(one, mode)
        files.sync_directory(one.parent)
    return missing
