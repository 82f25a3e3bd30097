"""EncryptedWrites: what is written to an encrypted connection goes there piece by piece, as the other end takes it.

What a transport is given is encrypted at once, in memory that grows as it is filled. An answer of many megabytes would
be copied several times, into memory that is fresh and therefore slow, and its reader would wait for all of it; small
pieces stay in a core's cache, and the other end decrypts one while the next is made. Each part that is written by
itself becomes a record of its own, so small ones are put together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

from lakeward.protocol.codec import Parts

#: Four records of 16 KB, the most that one of TLS holds.
_PIECE_BYTES = 64 * 1024
#: Parts up to this size are copied to be written together.
_SMALL_BYTES = 16 * 1024
#: So much is encrypted ahead of what the other end takes.
_AHEAD_BYTES = 256 * 1024


class EncryptedWrites:
    """Parts on their way; the owner passes on when the transport is full, and when it is not any more."""

    def __init__(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=_AHEAD_BYTES)
        self._transport = transport
        self._waiting: deque[bytes | memoryview] = deque()
        self._is_held = False
        self.size = 0

    @classmethod
    def of(cls, transport: asyncio.Transport) -> EncryptedWrites | None:
        """Those of a transport that encrypts; None for all others, which need no such care."""
        return None if transport.get_extra_info("ssl_object") is None else cls(transport)

    def add(self, parts: Parts) -> None:
        """Write some more."""
        for piece in pieces(parts):
            self._waiting.append(piece)
            self.size += len(piece)
        self._go_on()

    def hold(self) -> None:
        """The transport is full."""
        self._is_held = True

    def release(self) -> None:
        """It is not any more."""
        self._is_held = False
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and not self._is_held:  # writing may make the transport full
            self._write()

    def finish(self) -> None:
        """Hand all on, before the transport is closed."""
        while self._waiting:
            self._write()

    def _write(self) -> None:
        piece = self._waiting.popleft()
        self.size -= len(piece)
        self._transport.write(piece)


def pieces(parts: Parts) -> Iterator[bytes | memoryview]:
    """The same bytes: small parts together, large ones cut."""
    small: Parts = []
    size = 0
    for part in parts:
        if len(part) <= _SMALL_BYTES:
            small.append(part)
            size += len(part)
            if size < _PIECE_BYTES:
                continue
        if small:
            yield b"".join(small)
            small, size = [], 0
        if len(part) > _SMALL_BYTES:
            view = memoryview(part)
            for start in range(0, len(view), _PIECE_BYTES):
                yield view[start : start + _PIECE_BYTES]
    if small:
        yield b"".join(small)
