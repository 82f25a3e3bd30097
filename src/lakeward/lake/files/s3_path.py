"""S3Path: a file or folder in a bucket, with the few methods of pathlib.Path that lake tables use.

`lake_path` makes one of these for s3:// and s3a://, and a Path for everything else, so that a table's code reads the
same for both. What differs is in `lake.whole_files`: files that appear whole or not at all.
"""

from __future__ import annotations

import fnmatch
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from lakeward.errors import NotFoundError
from lakeward.lake.files.blocking_store import BlockingStore, blocking_store
from lakeward.remote.open_store import S3_SCHEMES

_AHEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class S3Path:
    """A place in a bucket: `root` is s3://bucket, `key` the rest."""

    root: str
    key: str
    store: BlockingStore = field(compare=False, repr=False)
    #: Where it came from a listing: when it was last changed.
    modified_ms: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.root}/{self.key}"

    def __truediv__(self, name: str) -> S3Path:
        return S3Path(self.root, f"{self.key}/{name}" if self.key else name, self.store)

    @property
    def name(self) -> str:
        """The last part."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> S3Path:
        """The folder."""
        return S3Path(self.root, self.key.rpartition("/")[0], self.store)

    def as_posix(self) -> str:
        """The same as the text."""
        return str(self)

    def is_file(self) -> bool:
        """Whether there is a file of this name."""
        return self.store.head(self.key) is not None

    def exists(self) -> bool:
        """Whether there is a file of this name, or one below it."""
        return self.is_file() or bool(self.store.list(self.key))

    def read_bytes(self) -> bytes:
        """All of it; FileNotFoundError as of a local file."""
        try:
            return self.store.get(self.key)
        except NotFoundError as wrong:
            raise FileNotFoundError(wrong.message) from wrong

    def read_text(self) -> str:
        """All of it, as text."""
        return self.read_bytes().decode()

    def open(self, mode: str = "rb") -> IO[bytes]:
        """A stream that reads what is asked for, a good part at a time."""
        assert mode == "rb", "files of a bucket are written as a whole"
        found = self.store.head(self.key)
        if found is None:
            raise FileNotFoundError(f"{self} does not exist.")
        raw: Any = _Ranges(self, found.size)
        return io.BufferedReader(raw, _AHEAD_BYTES)

    def write_bytes(self, data: bytes) -> int:
        """Store all of it; its size."""
        self.store.put(self.key, data)
        return len(data)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove it; there is no way to know whether it was there."""
        assert missing_ok
        self.store.delete([self.key])

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Folders are only names here."""

    def glob(self, pattern: str) -> Iterator[S3Path]:
        """Files in this folder whose names match."""
        return (path for path in self.rglob("*") if path.parent == self and fnmatch.fnmatchcase(path.name, pattern))

    def rglob(self, pattern: str) -> Iterator[S3Path]:
        """Files below this folder, however deep."""
        for found in self.store.list(self.key):
            path = S3Path(self.root, found.path, self.store, found.modified_ms)
            if fnmatch.fnmatchcase(path.name, pattern):
                yield path


class _Ranges(io.RawIOBase):
    """An object, read by ranges."""

    def __init__(self, path: S3Path, size: int) -> None:
        self._path = path
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._at + len(view), self._size)
        if end <= self._at:
            return 0
        data = self._path.store.get_range(self._path.key, self._at, end)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


LakePath = Path | S3Path


def is_s3(location: str) -> bool:
    """Whether a location is in a bucket."""
    return urlsplit(location).scheme in S3_SCHEMES


def lake_path(location: str, properties: Mapping[str, str]) -> LakePath:
    """The path of a location: s3://bucket/folder, file:///folder, or a local path."""
    if not is_s3(location):
        parsed = urlsplit(location)
        return Path(unquote(parsed.path) if parsed.scheme == "file" else location)
    parts = urlsplit(location, allow_fragments=False)
    root = f"{parts.scheme}://{parts.netloc}"
    key = location.removeprefix(root).strip("/")  # a '?' in a key is a letter like others
    return S3Path(root, key, blocking_store(root, properties))


def modified_ms(path: LakePath) -> int:
    """When a file was last changed."""
    if isinstance(path, S3Path):
        assert path.modified_ms is not None, "known of files that were listed"
        return path.modified_ms
    return path.stat().st_mtime_ns // 1_000_000
