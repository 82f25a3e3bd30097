"""Source: the bytes of a file or of a pipe, unpacked where the name says so."""

from __future__ import annotations

import os
import sys
from io import RawIOBase
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Protocol

STDIN = "-"
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class _Reads(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class Source:
    """Bytes to read once, from the start. A pipe gives what is there; it is not waited for more."""

    def __init__(self, path: str) -> None:
        self.name = "stdin" if path == STDIN else path
        self._file: BinaryIO = open(_stdin_number() if path == STDIN else path, "rb", buffering=0)  # noqa: SIM115, PTH123
        self._counted = _CountedFile(self._file)
        self._reads: _Reads = _unpack(path, self._counted)
        facts = os.fstat(self._file.fileno())
        self._size_bytes = facts.st_size if Path(path).is_file() else None

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end. BadRowError where what is packed cannot be unpacked any further."""
        try:
            return self._reads.read(size) or b""
        except OSError as wrong:
            if wrong.errno is not None:  # the system's own
                raise
            from lakeward.cli.files.bad_row import BadRowError

            why = f"it is cut off, damaged, or not packed as its name says ({wrong})"
            raise BadRowError(self.name, why) from wrong

    def progress(self) -> float | None:
        """The share that was read, from 0 to 1; None when the size is not known."""
        return min(self._counted.bytes / self._size_bytes, 1.0) if self._size_bytes else None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def unpacked_name(path: str) -> str:
    """The name without `.gz` and the like: what remains tells the format."""
    ending = PurePath(path).suffix
    return path.removesuffix(ending) if ending in _PACKED else path


def _stdin_number() -> int:
    return os.dup(sys.stdin.fileno())


def _unpack(path: str, raw: _CountedFile) -> Any:
    codec = _PACKED.get(PurePath(path).suffix)
    if codec is None:
        return raw
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), codec)


class _CountedFile(RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self.bytes += len(data)
        return data
