"""Receive buffers, used again because fresh memory is slow to touch; all connections share one bound."""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Callable

from lakeward.protocol.frame_reader import SMALL_BYTES

_SMALLEST_BYTES = 128 * 1024
_SMALL_KEPT = 64
#: Frames above this size share half of the memory, so that ordinary ones always find some.
_HUGE_BYTES = 8 << 20


class BufferPool:
    """Anonymous maps by size class. Claiming a large frame costs nothing until its bytes arrive."""

    def __init__(self, idle_bytes_max: int = 64 << 20, bytes_max: int = 512 << 20) -> None:
        self._idle_bytes_max = idle_bytes_max
        self._bytes_max = bytes_max
        self._idle_bytes = 0
        self._idle: dict[int, list[mmap.mmap]] = {}
        self._small: list[bytearray] = []
        self._used = self._used_by_huge = 0
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_short(self) -> bool:
        """Whether somebody waits for memory."""
        return bool(self._waiting)

    @property
    def used_bytes(self) -> int:
        """How much is in use."""
        return self._used

    def take(self, size: int) -> mmap.mmap | None:
        """A buffer of at least this size; None when too much is in use."""
        size_class = max(_SMALLEST_BYTES, 1 << (size - 1).bit_length())
        is_huge = size_class > _HUGE_BYTES
        if is_huge and self._used_by_huge and self._used_by_huge + size_class > self._bytes_max // 2:
            return None
        if self._used and self._used + size_class > self._bytes_max:
            return None
        self._count(size_class)
        idle = self._idle.get(size_class)
        if idle:
            self._idle_bytes -= size_class
            return idle.pop()
        return mmap.mmap(-1, size_class)

    def give(self, buffer: mmap.mmap) -> None:
        """Take a buffer back that nobody looks into any more."""
        self._count(-len(buffer))
        if self._idle_bytes + len(buffer) <= self._idle_bytes_max:
            self._idle_bytes += len(buffer)
            self._idle.setdefault(len(buffer), []).append(buffer)
        waiting, self._waiting = self._waiting, deque()
        for act in waiting:
            act()

    def when_given(self, act: Callable[[], None]) -> None:
        """Act when memory has been given back, which may be too little still."""
        self._waiting.append(act)

    def _count(self, change: int) -> None:
        self._used += change
        if abs(change) > _HUGE_BYTES:
            self._used_by_huge += change

    def take_small(self) -> bytearray:
        """A buffer for small frames. Connections that have sent nothing hold none."""
        return self._small.pop() if self._small else bytearray(SMALL_BYTES)

    def give_small(self, buffer: bytearray) -> None:
        """Take such a buffer back."""
        if len(self._small) < _SMALL_KEPT:
            self._small.append(buffer)
