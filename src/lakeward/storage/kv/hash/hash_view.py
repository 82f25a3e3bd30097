"""The hash engine's state at one moment: read in key order, or written to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.records.batch.layout import I64 as LONG
from lakeward.records.batch.layout import Field, Layout
from lakeward.runtime.files.port import File, Files, How, write_all
from lakeward.storage.kv.hash import entry_kernels
from lakeward.storage.kv.hash.key_order import KeyOrder
from lakeward.storage.kv.hash.value_log import CHUNK_BYTES_MAX, FrozenLog, ValueLog
from lakeward.storage.kv.store.slices import I64, U8, Entries

ENTRIES_FILE = "entries"
#: The file of entries is a sequence of blocks, each of which becomes a chunk again.
BLOCK = Layout.of(Field("bytes", LONG, "size of the entries that follow"), Field("rows", LONG, "how many there are"))
_ROWS_MEASURED = 4096
_READ_BYTES = 1 << 20
_NONE = np.empty(0, np.int64)


class HashView:
    """Rows in key order. They are put into order as they are read."""

    def __init__(self, log: FrozenLog, positions: I64) -> None:
        self.row_count = len(positions)
        self._log: FrozenLog | None = log
        self._positions = positions
        self._order: KeyOrder | None = None
        self._ready = _NONE

    def read(self, bytes_max: int, rows_max: int | None = None) -> Entries:
        """The next rows, at least one and no more than this many bytes of keys and values; none at the end."""
        if self._log is None or rows_max == 0:
            return Entries.of(())
        if self._order is None:
            self._order = KeyOrder(self._log.chunks, self._positions)
            self._positions = _NONE
        taken: list[I64] = []
        rows_left = self.row_count if rows_max is None else rows_max
        while True:
            if not len(self._ready):
                self._ready = self._order.take()
            window = self._ready[: min(_ROWS_MEASURED, rows_left)]
            sizes = self._log.row_sizes(window)
            fitting = int(np.searchsorted(np.cumsum(sizes), bytes_max, side="right"))
            if not taken:
                fitting = max(fitting, min(1, len(window)))
            taken.append(window[:fitting])
            self._ready = self._ready[fitting:]
            bytes_max -= int(sizes[:fitting].sum())
            rows_left -= fitting
            if fitting < len(window) or not len(window) or not rows_left:
                return self._log.gather(np.concatenate(taken))

    def close(self) -> None:
        """Let go of the state."""
        self._log = self._order = None
        self._positions = self._ready = _NONE


def write_entries(disk: Files, log: FrozenLog, positions: I64, directory: Path) -> None:
    """Write live entries as they lie in memory, block by block, and wait until they are on disk."""
    positions = np.sort(positions)  # as they lie in memory: far faster to read than the order of the index
    at = written = 0
    file = disk.open(directory / ENTRIES_FILE, How.EMPTY)
    try:
        shared = np.empty(BLOCK.size + CHUNK_BYTES_MAX, np.uint8)
        while at < len(positions):
            block = shared
            end, used = _pack(log, positions, at, block)
            if used == 0:  # an entry larger than a chunk has a block to itself, as it had a chunk
                address = entry_kernels.address_of(log.chunks, positions[at])
                block = np.empty(BLOCK.size + entry_kernels.entry_bytes_at(address), np.uint8)
                end, used = _pack(log, positions, at, block)
            BLOCK.struct.pack_into(block.data, 0, used, end - at)
            written = write_all(file, memoryview(block.data)[: BLOCK.size + used], written)
            at = end
        file.sync()
    finally:
        file.close()


def _pack(log: FrozenLog, positions: I64, at: int, block: U8) -> tuple[int, int]:
    body = block[BLOCK.size :]
    end, used = entry_kernels.pack(log.chunks, positions, at, body.ctypes.data, len(body))
    return end, used


def read_entries(disk: Files, path: Path, log: ValueLog) -> list[tuple[int, int]]:
    """Read a file of entries into new chunks; returns each with its number of rows."""
    restored: list[tuple[int, int]] = []
    file, at = disk.open(path), 0
    try:
        end = file.facts().size
        while head := file.pread(BLOCK.size, at):
            if len(head) < BLOCK.size:
                raise _damage_error(path)
            size, rows = BLOCK.struct.unpack(head)
            at += BLOCK.size
            if not 0 < size <= end - at:
                raise _damage_error(path)
            chunk = log.allocate(size)
            _read_into(file, memoryview(log.buffer(chunk).data)[:size], at, path)
            at += size
            log.chunks[chunk, entry_kernels.USED] = size
            restored.append((chunk, rows))
    finally:
        file.close()
    return restored


def _read_into(file: File, left: memoryview, at: int, path: Path) -> None:
    """In pieces: a chunk need not be in memory twice."""
    while left:
        piece = file.pread(min(len(left), _READ_BYTES), at)
        if not piece:
            raise _damage_error(path)
        left[: len(piece)] = piece
        left, at = left[len(piece) :], at + len(piece)


def _damage_error(path: Path) -> Exception:
    return ErrorCode.KV_STORAGE.error(f"The snapshot file {path} is damaged; an older snapshot must be taken.")
