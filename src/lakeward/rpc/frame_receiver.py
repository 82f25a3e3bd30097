"""Cuts response frames out of a byte stream without copying large ones.

Small frames are copied out of a scratch buffer. A frame larger than the scratch gets a buffer of its own as soon as
its length is known, and the rest of it is received straight into that buffer. So each frame owns its memory: views
into it stay good for as long as somebody holds them.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.protocol.frames import LENGTH_BYTES, frame_length

Frame = bytes | memoryview

#: Length fields are signed 32-bit; what a server may send is bounded by what we ask for.
RESPONSE_BYTES_MAX = (1 << 31) - 1
_SCRATCH_BYTES = 64 * 1024
_TYPE_BYTES = 1


class FrameReceiver:
    """Give `buffer()` to the socket, call `received(n)`, take the whole frames it yields."""

    def __init__(self, frame_bytes_max: int = RESPONSE_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._scratch = memoryview(bytearray(_SCRATCH_BYTES))
        self._start = self._end = 0
        self._large: memoryview | None = None
        self._filled = 0

    def buffer(self) -> memoryview:
        """Where the next bytes of the stream belong; never empty."""
        if self._large is not None:
            return self._large[self._filled :]
        return self._scratch[self._end :]

    def received(self, count: int) -> Iterator[Frame]:
        """Account for `count` bytes put into `buffer()`; yields the frames they complete, without length field."""
        if self._large is not None:
            self._filled += count
            if self._filled == len(self._large):
                whole, self._large = self._large, None
                yield whole
            return
        self._end += count
        while self._end - self._start >= LENGTH_BYTES:
            body = self._start + LENGTH_BYTES
            length = frame_length(self._scratch[self._start : body], self._frame_bytes_max, _TYPE_BYTES)
            if self._end - body >= length:
                self._start = body + length
                yield bytes(self._scratch[body : body + length])
            elif LENGTH_BYTES + length > _SCRATCH_BYTES:
                self._promote(body, length)
                return
            else:
                break
        self._compact()

    def _promote(self, body: int, length: int) -> None:
        self._large = memoryview(bytearray(length))
        self._filled = self._end - body
        self._large[: self._filled] = self._scratch[body : self._end]
        self._start = self._end = 0

    def _compact(self) -> None:
        left = self._end - self._start
        if self._start and left:
            self._scratch[:left] = bytes(self._scratch[self._start : self._end])
        self._start, self._end = 0, left
