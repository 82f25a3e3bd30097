"""The value log of the hash engine: entries appended to chunks of memory that never move.

A chunk is written once, from its start to its end, and never changed. So a view needs only to hold on to the chunks
of its moment: one that is cleaned meanwhile leaves the log, and goes when the last view lets go of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.storage.kv.hash import entry_kernels as kernels
from lakeward.storage.kv.hash.hash_kernels import LOG_LIVE, LOG_USED, TAIL
from lakeward.storage.kv.store.slices import I64, U8, Entries, Slices

CHUNK_BYTES_MAX = 1 << (kernels.CHUNK_UNIT_BITS + kernels.UNIT_BITS)
_CHUNK_BYTES_MIN = 16 * 1024
#: A larger entry has a chunk to itself, so that it wastes no room at the end of a shared one.
OWN_CHUNK_BYTES = CHUNK_BYTES_MAX // 4
_CHUNKS_MAX = 1 << (kernels.POSITION_BITS - kernels.CHUNK_UNIT_BITS)
#: Compiled code reads eight bytes at a time and may look that far behind the last entry.
_SLACK_BYTES = 8
_NOTHING = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class FrozenLog:
    """The chunks of one moment, kept alive."""

    chunks: I64
    buffers: tuple[U8, ...]

    def gather(self, positions: I64) -> Entries:
        """Copy entries out, in the order of the positions given."""
        sizes = np.empty((2, len(positions)), np.int64)
        kernels.measure(self.chunks, positions, sizes[0], sizes[1])
        ends = np.cumsum(sizes, axis=1)
        starts = ends - sizes
        keys, values = (np.empty(int(e[-1]) if len(e) else 0, np.uint8) for e in ends)
        kernels.copy_keys(self.chunks, positions, keys.ctypes.data, starts[0])
        kernels.copy_values(self.chunks, positions, values.ctypes.data, starts[1])
        return Entries(Slices(keys, starts[0], ends[0]), Slices(values, starts[1], ends[1]))

    def row_sizes(self, positions: I64) -> I64:
        """Bytes of key and value of each entry."""
        sizes = np.empty((2, len(positions)), np.int64)
        kernels.measure(self.chunks, positions, sizes[0], sizes[1])
        total: I64 = sizes.sum(axis=0)
        return total

    def gather_keys(self, positions: I64) -> Slices:
        """Copy keys out, in the order of the positions given."""
        sizes = np.empty((2, len(positions)), np.int64)
        kernels.measure(self.chunks, positions, sizes[0], sizes[1])
        ends = np.cumsum(sizes[0])
        starts = ends - sizes[0]
        keys = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
        kernels.copy_keys(self.chunks, positions, keys.ctypes.data, starts)
        return Slices(keys, starts, ends)


class ValueLog:
    """The chunks in use. `state` is shared with the compiled code, which appends to the chunk at state[TAIL]."""

    def __init__(self, state: I64) -> None:
        self._state = state
        # Row 0 is no chunk: position 0 means "none", and its capacity of 0 makes the first append ask for room.
        self.chunks = np.zeros((8, kernels.CHUNK_FIELDS), np.int64)
        self._buffers: list[U8] = [_NOTHING]
        self._free: list[int] = []
        self._shared_tail = 0
        self.capacity_bytes = 0

    def make_room(self, entry_bytes: int) -> None:
        """Point the tail to a chunk that has room for an entry."""
        fields = self.chunks[self._shared_tail]
        if entry_bytes > OWN_CHUNK_BYTES:
            self._state[TAIL] = self.allocate(entry_bytes)
            return
        if fields[kernels.CAPACITY] - fields[kernels.USED] < entry_bytes:
            self._shared_tail = self.allocate(max(entry_bytes, self._chunk_bytes()))
        self._state[TAIL] = self._shared_tail

    def _chunk_bytes(self) -> int:
        """Chunks grow with the log: a thousand small buckets stay small, and a large one is cleaned in small steps."""
        wanted = 1 << (int(self._state[LOG_LIVE]) >> 4).bit_length()
        return min(max(wanted, _CHUNK_BYTES_MIN), CHUNK_BYTES_MAX)

    def allocate(self, capacity: int) -> int:
        """A new, empty chunk."""
        if not self._free and len(self._buffers) >= _CHUNKS_MAX:
            raise ErrorCode.KV_STORAGE.error(
                "The bucket's state has outgrown the hash engine; use the rocksdb engine or more buckets."
            )
        buffer = np.empty(capacity + _SLACK_BYTES, np.uint8)
        if self._free:
            chunk = self._free.pop()
        else:
            chunk = len(self._buffers)
            self._buffers.append(_NOTHING)
            if chunk >= len(self.chunks):
                self.chunks = np.concatenate([self.chunks, np.zeros_like(self.chunks)])
        self._buffers[chunk] = buffer
        self.chunks[chunk] = (buffer.ctypes.data, capacity, 0, 0)
        self.capacity_bytes += capacity
        return chunk

    def buffer(self, chunk: int) -> U8:
        """A chunk's memory."""
        return self._buffers[chunk]

    def free(self, chunk: int) -> None:
        """Take a chunk without live entries out of the log."""
        fields = self.chunks[chunk]
        assert fields[kernels.LIVE] == 0, "a chunk that is freed holds nothing"
        self._state[LOG_USED] -= fields[kernels.USED]
        self.capacity_bytes -= int(fields[kernels.CAPACITY])
        fields[:] = 0
        self._buffers[chunk] = _NOTHING
        self._free.append(chunk)

    def dead_chunks(self) -> list[int]:
        """The chunks that are written to no more and hold nothing that is live."""
        dead = (self.chunks[:, kernels.LIVE] == 0) & (self.chunks[:, kernels.CAPACITY] > 0)
        dead[[self._shared_tail, int(self._state[TAIL])]] = False
        return np.flatnonzero(dead).tolist()

    def worst_chunk(self) -> int | None:
        """The chunk that is cleaned at the least cost, or None when none has anything to clean."""
        used, live = self.chunks[:, kernels.USED], self.chunks[:, kernels.LIVE]
        dead_share = (used - live) / np.maximum(used, 1)
        dead_share[[self._shared_tail, int(self._state[TAIL])]] = 0
        worst = int(np.argmax(dead_share))
        return worst if dead_share[worst] > 0 else None

    def close_tail(self) -> bool:
        """Write to the present tail no more, so that it can be cleaned too; says whether there was one."""
        had = self._shared_tail != 0
        self._shared_tail = 0
        self._state[TAIL] = 0
        return had

    def freeze(self) -> FrozenLog:
        """The log as it is now, for a reader on another thread."""
        return FrozenLog(self.chunks.copy(), tuple(self._buffers))

    def borrow(self) -> FrozenLog:
        """The log as it is now, for a reader that is done before the next write."""
        return FrozenLog(self.chunks, ())
