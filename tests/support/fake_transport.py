"""A transport that keeps what is written, so that protocols can be tested without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class FakeTransport:
    """Remembers bytes written and whether the connection was dropped."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.aborted = False

    def get_extra_info(self, name: str) -> None:
        """Nothing is known of it, least of all that it encrypts."""

    def set_write_buffer_limits(self, high: int) -> None:
        """Accepted and ignored."""

    def writelines(self, parts: Iterable[bytes]) -> None:
        """Keep the bytes."""
        for part in parts:
            self.written += part

    def abort(self) -> None:
        """Drop the connection."""
        self.aborted = True


def feed(protocol: asyncio.BufferedProtocol, data: bytes) -> None:
    """Give bytes to a protocol as an event loop does."""
    while data:
        room = protocol.get_buffer(-1)
        part, data = data[: len(room)], data[len(room) :]
        room[: len(part)] = part
        protocol.buffer_updated(len(part))
