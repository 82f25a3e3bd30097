"""The RocksDB engine's state at one moment, read in key order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.storage.kv.store.slices import Entries


@contextmanager
def rocksdb_failures(directory: Path) -> Iterator[None]:
    """What RocksDB says when it fails, as our error; the library raises nothing more special than Exception."""
    try:
        yield
    except OverflowError:  # our own: more than was wanted
        raise
    except Exception as wrong:
        raise ErrorCode.KV_STORAGE.error(f"RocksDB in {directory} failed: {wrong}") from wrong


class RocksDbView:
    """The state at one moment, in key order."""

    def __init__(self, rows: Iterator[tuple[bytes, bytes]], row_count: int, directory: Path) -> None:
        self.row_count = row_count
        self._directory = directory
        self._rows: Iterator[tuple[bytes, bytes]] = rows
        self._next: tuple[bytes, bytes] | None = None

    def read(self, bytes_max: int, rows_max: int | None = None) -> Entries:
        """The next rows, at least one and no more than this many bytes of keys and values; none at the end."""
        taken: list[tuple[bytes, bytes]] = []
        with rocksdb_failures(self._directory):
            row = self._next or next(self._rows, None)
            while row is not None and len(taken) != rows_max:
                bytes_max -= len(row[0]) + len(row[1])
                if bytes_max < 0 and taken:
                    break
                taken.append(row)
                row = next(self._rows, None)
        self._next = row
        return Entries.of(taken)

    def close(self) -> None:
        """Let go of the state, and so of the files that only this view still needs."""
        self._rows = iter(())
        self._next = None
