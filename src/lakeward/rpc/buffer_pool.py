"""Receive buffers for large frames, used again because fresh memory is slow to touch."""

from __future__ import annotations

import mmap

_SMALLEST_BYTES = 128 * 1024


class BufferPool:
    """Anonymous maps by size class. Claiming a large frame costs nothing until its bytes arrive."""

    def __init__(self, idle_bytes_max: int = 64 << 20) -> None:
        self._idle_bytes_max = idle_bytes_max
        self._idle_bytes = 0
        self._idle: dict[int, list[mmap.mmap]] = {}

    def take(self, size: int) -> mmap.mmap:
        """A buffer of at least this size."""
        size_class = max(_SMALLEST_BYTES, 1 << (size - 1).bit_length())
        idle = self._idle.get(size_class)
        if idle:
            self._idle_bytes -= size_class
            return idle.pop()
        return mmap.mmap(-1, size_class)

    def give(self, buffer: mmap.mmap) -> None:
        """Take a buffer back that nobody looks into any more."""
        if self._idle_bytes + len(buffer) <= self._idle_bytes_max:
            self._idle_bytes += len(buffer)
            self._idle.setdefault(len(buffer), []).append(buffer)
