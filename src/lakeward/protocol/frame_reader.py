"""FrameReader: bytes in, whole frames out. It knows nothing of sockets or event loops, and both ends of a wire use it.

Bytes are received straight into its memory. Small frames share one buffer. A frame that is larger gets memory of its
own as soon as its length is known, and the rest of it arrives there, so that large frames are not copied.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Protocol

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.frames import FRAME_BYTES_MAX, LENGTH_BYTES

#: Frames up to this size share a buffer.
SMALL_BYTES = 64 * 1024
#: After a large frame the next one is probably large too: read only its head into the small buffer, to copy little.
_PEEK_BYTES = 4096
#: What is left of so few bytes is kept aside, and the buffer goes back: thousands of clients may be in mid-sentence.
_ASIDE_BYTES = 512
#: A loop reads a socket many times in a row; others must not wait for hundreds of megabytes.
_READ_BYTES = 1 << 20
_NOTHING = memoryview(b"")
_read_length = struct.Struct(">i").unpack_from


class Memory(Protocol):
    """Where a reader has its buffers from, and gives them back to."""

    def take_small(self) -> bytearray:
        """A buffer of SMALL_BYTES."""

    def give_small(self, buffer: bytearray) -> None:
        """Take such a buffer back."""

    def take(self, size: int) -> Any:
        """A writable buffer of at least this size; None when there is no memory now."""

    def give(self, buffer: Any) -> None:
        """Take such a buffer back."""


class FreshMemory:
    """Memory for one reader whose large frames are kept by others: they are never taken back."""

    def __init__(self) -> None:
        self._small: bytearray | None = None

    def take_small(self) -> bytearray:
        """The one small buffer."""
        small, self._small = self._small, None
        return bytearray(SMALL_BYTES) if small is None else small

    def give_small(self, buffer: bytearray) -> None:
        """Keep it for the next small frame."""
        self._small = buffer

    def take(self, size: int) -> bytearray:
        """Memory for one frame."""
        return bytearray(size)

    def give(self, buffer: bytearray) -> None:
        """Whoever holds a view of the frame holds its memory."""


class FrameReader:
    """Put bytes into `room()`, say how many with `fill()`, then take the frames that are whole."""

    def __init__(self, memory: Memory, *, header_bytes: int, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        """A frame has at least its header, and with its length field at most `frame_bytes_max`."""
        self._memory = memory
        self._header_bytes = header_bytes
        self._length_max = frame_bytes_max - LENGTH_BYTES
        self._small: bytearray | None = None
        self.large: Any = None
        self._view = _NOTHING
        self._start = self._end = 0
        self._limit = SMALL_BYTES
        self._aside = b""
        self.awaited_bytes = 0
        self.lacks_memory = False

    def limit(self, frame_bytes_max: int) -> None:
        """From now on a frame has at most so many bytes, its length field included."""
        self._length_max = frame_bytes_max - LENGTH_BYTES

    # -- bytes in

    def room(self) -> memoryview:
        """Where the next bytes of the stream go; never empty."""
        if self._view is _NOTHING:
            self._small = self._memory.take_small()
            self._view = memoryview(self._small)
            self._start, self._end = 0, len(self._aside)
            if self._aside:
                self._view[: self._end] = self._aside
                self._aside = b""
        return self._view[self._end : min(self._limit, self._end + _READ_BYTES)]

    def fill(self, count: int) -> bool:
        """So many bytes were put into `room()`; whether it is worth looking for a frame."""
        self._end += count
        return self._end - self._start >= self.awaited_bytes

    # -- frames out

    def take_frame(self) -> memoryview | None:
        """The next frame without its length, good until more bytes are asked for; None when it is not whole.

        Then there is room for the rest of it, and `awaited_bytes` says its size, unless the reader `lacks_memory`.
        """
        start = self._start
        here = self._end - start
        if here < LENGTH_BYTES:
            if self._aside:
                self.room()
                return self.take_frame()
            self.make_room(LENGTH_BYTES + self._header_bytes)
            return None
        (length,) = _read_length(self._view, start)
        if not self._header_bytes <= length <= self._length_max:
            raise self._wrong_length(length)
        size = LENGTH_BYTES + length
        if here < size:
            self.lacks_memory = not self.make_room(size)
            if not self.lacks_memory:
                self.awaited_bytes = size
            return None
        self.awaited_bytes = 0
        self._start = end = start + size
        return self._view[start + LENGTH_BYTES : end]

    def kept_frames(self) -> Iterator[bytes | memoryview]:
        """The frames that are whole, each good for as long as somebody holds it; only with `FreshMemory`."""
        while (frame := self.take_frame()) is not None:
            yield bytes(frame) if self.large is None else frame

    def _wrong_length(self, length: int) -> LakewardError:
        if length < self._header_bytes:
            return ErrorCode.CORRUPT_MESSAGE.error(f"A frame of {length} bytes is shorter than its header.")
        limit = self._length_max + LENGTH_BYTES
        return ErrorCode.CORRUPT_MESSAGE.error(f"A frame of {length} bytes is over the limit of {limit}.")

    # -- what is not a frame yet

    @property
    def unread_bytes(self) -> int:
        """How many bytes are here."""
        return self._end - self._start + len(self._aside)

    def peek(self) -> memoryview:
        """All that is here."""
        return self._view[self._start : self._end]

    def make_room(self, size: int) -> bool:
        """See to it that a frame of this size, whose first bytes are here, fits; False when memory is short."""
        rest = self._view[self._start : self._end]
        if self.large is None and size <= SMALL_BYTES:
            if self._start + size > SMALL_BYTES:
                self._view[: len(rest)] = rest  # views copy overlapping ranges right
                self._start, self._end = 0, len(rest)
            self._limit = SMALL_BYTES
            return True
        if self.large is not None and self._start == 0 and len(self.large) >= size:
            self._limit = size
            return True
        if size <= SMALL_BYTES:
            small = self._memory.take_small()
            view = memoryview(small)
            view[: len(rest)] = rest
            self._replace(small, None, view)
            self._limit = max(_PEEK_BYTES, size)
        else:
            large = self._memory.take(size)
            if large is None:
                return False
            view = memoryview(large)
            view[: len(rest)] = rest
            self._replace(None, large, view)
            self._limit = size
        self._start, self._end = 0, len(rest)
        return True

    # -- memory

    def shrink(self) -> None:
        """Give memory back that holds nothing, or little."""
        if self._small is None or self._end - self._start > _ASIDE_BYTES:
            return
        self._aside = bytes(self._view[self._start : self._end])
        self._replace(None, None, _NOTHING)
        self._start = self._end = 0

    def clear(self) -> None:
        """Forget everything."""
        self._aside = b""
        self._replace(None, None, _NOTHING)
        self._start = self._end = 0

    def _replace(self, small: bytearray | None, large: Any, view: memoryview) -> None:
        """Go over to other memory."""
        if self._small is not None:
            self._memory.give_small(self._small)
        old = self.large
        self._small, self.large, self._view = small, large, view
        if old is not None:
            self._memory.give(old)
