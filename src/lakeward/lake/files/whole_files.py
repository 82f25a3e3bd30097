"""Files that appear whole or not at all.

On a local disk a file is written under another name, synced, and linked to its own, which fails if that is taken. In a
bucket it is one conditional put (If-None-Match: *); a plain put or rename there would lose commits. Large files are
written beside and sent when they are done.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa

from lakeward.lake.files.s3_path import LakePath, S3Path
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import sync_data
from lakeward.runtime.files.whole_file import create_file, make_lasting_directory, name_file, sync_names, write_file

_DISK = LocalFiles()
#: A lake is read by others.
_MODE = 0o666


def create(path: LakePath, data: bytes) -> bool:
    """Make a file with this content; False if there is one already, which is left as it is."""
    if isinstance(path, S3Path):
        return path.store.create(path.key, data)
    make_lasting_directory(_DISK, path.parent)
    return create_file(_DISK, path, (data,), _aside(path), mode=_MODE)


def replace(path: LakePath, data: bytes) -> None:
    """Make a file with this content, or exchange the content of the one that is there."""
    if isinstance(path, S3Path):
        path.write_bytes(data)
        return
    aside = _aside(path)
    write_file(_DISK, aside, (data,), mode=_MODE)
    name_file(_DISK, aside, path)


def copy(source: LakePath, target: LakePath) -> None:
    """A second file with the same content."""
    if isinstance(target, S3Path):
        beside = _beside()
        try:
            with source.open("rb") as read, beside.open("wb") as written:
                shutil.copyfileobj(read, written)
            target.store.put_file(target.key, beside)
        finally:
            beside.unlink()
        return
    assert isinstance(source, Path), "files are copied within a table"
    shutil.copyfile(source, target)
    sync(target)


class Output:
    """A file that is being written; a local one where it belongs, since nobody knows of it before it is committed."""

    def __init__(self, path: LakePath) -> None:
        self._path = path
        self._beside = _beside() if isinstance(path, S3Path) else None
        self.stream = pa.OSFile(str(path if self._beside is None else self._beside), "wb")

    def close(self) -> None:
        """The file is where it belongs."""
        self.stream.close()
        if isinstance(self._path, Path):
            sync(self._path)
        elif self._beside is not None:
            try:
                self._path.store.put_file(self._path.key, self._beside)
            finally:
                self._beside.unlink()

    def abandon(self) -> None:
        """Give it up; who owns a local one removes it."""
        self.stream.close()
        if self._beside is not None:
            self._beside.unlink()


def sync(path: LakePath) -> None:
    """Wait until a local file, and its name, survive a power cut: a commit must not name what may be lost."""
    if isinstance(path, Path):
        sync_data(_DISK, path)
        sync_names(_DISK, path)


def _beside() -> Path:
    """A local file for what is on its way into a bucket."""
    descriptor, name = tempfile.mkstemp(prefix="lakeward-lake-")
    os.close(descriptor)
    return Path(name)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{SystemEntropy().uuid()}.tmp")
