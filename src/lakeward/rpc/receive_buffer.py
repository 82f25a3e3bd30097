"""ReceiveBuffer: the bytes of one connection that have come and are not handled yet, in one piece."""

from __future__ import annotations

import mmap

from lakeward.rpc.buffer_pool import SMALL_BYTES, BufferPool

#: After a large frame the next one is probably large too: read only its head into the small buffer, to copy little.
_PEEK_BYTES = 4096
#: What is left of so few bytes is kept aside, and the buffer goes back: thousands of clients may be in mid-sentence.
_ASIDE_BYTES = 512
#: The loop reads a socket many times in a row; others must not wait for hundreds of megabytes.
_READ_BYTES = 1 << 20
_NOTHING = memoryview(b"")


class ReceiveBuffer:
    """Bytes between `start` and `end` of `view`. Small frames share buffers of the pool, a large one has its own."""

    def __init__(self, pool: BufferPool) -> None:
        self._pool = pool
        self._small: bytearray | None = None
        self.large: mmap.mmap | None = None
        self.view = _NOTHING
        self.start = 0
        self.end = 0
        self._limit = SMALL_BYTES
        self._aside = b""

    def room(self) -> memoryview:
        """Where the next bytes go."""
        if self.view is _NOTHING:
            self._small = self._pool.take_small()
            self.view = memoryview(self._small)
            self.start, self.end = 0, len(self._aside)
            if self._aside:
                self.view[: self.end] = self._aside
                self._aside = b""
        return self.view[self.end : min(self._limit, self.end + _READ_BYTES)]

    def make_room(self, size: int) -> bool:
        """See to it that a frame of this size, whose first bytes are here, fits; False when memory is short."""
        rest = self.view[self.start : self.end]
        if self.large is None and size <= SMALL_BYTES:
            if self.start + size > SMALL_BYTES:
                self.view[: len(rest)] = rest  # views copy overlapping ranges right
                self.start, self.end = 0, len(rest)
            self._limit = SMALL_BYTES
            return True
        if self.large is not None and self.start == 0 and len(self.large) >= size:
            self._limit = size
            return True
        if size <= SMALL_BYTES:
            small = self._pool.take_small()
            view = memoryview(small)
            view[: len(rest)] = rest
            self._replace(small, None, view)
            self._limit = max(_PEEK_BYTES, size)
        else:
            large = self._pool.take(size)
            if large is None:
                return False
            view = memoryview(large)
            view[: len(rest)] = rest
            self._replace(None, large, view)
            self._limit = size
        self.start, self.end = 0, len(rest)
        return True

    def rest(self) -> None:
        """Give memory back that holds nothing, or little."""
        left = self.end - self.start
        if self._small is None or left > _ASIDE_BYTES:
            return
        self._aside = bytes(self.view[self.start : self.end])
        self._replace(None, None, _NOTHING)
        self.start = self.end = 0

    def clear(self) -> None:
        """Forget everything."""
        self._aside = b""
        self._replace(None, None, _NOTHING)
        self.start = self.end = 0

    def _replace(self, small: bytearray | None, large: mmap.mmap | None, view: memoryview) -> None:
        """Go over to other memory."""
        if self._small is not None:
            self._pool.give_small(self._small)
        old = self.large
        self._small, self.large, self.view = small, large, view
        if old is not None:
            self._pool.give(old)
