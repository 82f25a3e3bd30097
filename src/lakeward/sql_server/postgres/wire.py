"""Wire: the two directions of one connection, with bounds on what comes in and on how long a reader may stall."""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import NamedTuple

from lakeward.sql_server.postgres.codec.messages import Body, ProtocolError

_HEAD = struct.Struct("!ci")
#: A login needs no more.
STARTUP_BYTES_MAX = 10_000
MESSAGE_BYTES_MAX = 16 << 20
#: Who does not read for so long has gone.
_STALL_S = 60.0


class GoneError(Exception):
    """The client has gone, or is as good as gone."""


class ClientMessage(NamedTuple):
    """A letter and a body."""

    letter: str
    body: Body


class Wire:
    """Reads messages of a client and writes those of the server; on the loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stall_s: float = _STALL_S) -> None:
        self._reader = reader
        self._writer = writer
        self._stall_s = stall_s
        self.is_encrypted = False

    @property
    def peer(self) -> str:
        """Where the client is."""
        name = self._writer.get_extra_info("peername")
        return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name)

    @property
    def address(self) -> str:
        """The machine that the client is on."""
        name = self._writer.get_extra_info("peername")
        return str(name[0] if isinstance(name, tuple) else name)

    @property
    def is_gone(self) -> bool:
        """Whether nobody is there any more."""
        return self._reader.at_eof() or self._writer.transport.is_closing()

    async def first(self) -> tuple[int, Body]:
        """The message that has no letter: what the client wants, and the rest."""
        size = struct.unpack("!i", await self._exactly(4))[0]
        if not 8 <= size <= STARTUP_BYTES_MAX:
            raise ProtocolError("the first message has no size that one has")
        body = Body(await self._exactly(size - 4))
        return body.number(), body

    async def next(self, bytes_max: int = MESSAGE_BYTES_MAX) -> ClientMessage:
        """The next message."""
        letter, size = _HEAD.unpack(await self._exactly(5))
        if not 4 <= size <= bytes_max:
            raise ProtocolError(f"a message has {size} bytes; 4 to {bytes_max} are taken")
        return ClientMessage(letter.decode("latin-1"), Body(await self._exactly(size - 4)))

    async def send(self, data: bytes | memoryview) -> None:
        """Write, and wait while the client is behind."""
        self._writer.write(data)
        try:
            await asyncio.wait_for(self._writer.drain(), self._stall_s)
        except (TimeoutError, OSError):
            self.abort()
            raise GoneError from None

    async def encrypt(self, context: ssl.SSLContext) -> None:
        """Say yes, and go on by TLS. What came before that was not sent by somebody who had seen our certificate."""
        if self._reader._buffer:  # type: ignore[attr-defined]
            raise ProtocolError("bytes came before encryption began")
        # What the client sends from here on is TLS, and not for the reader; a quick one sends it before we begin.
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]
        self._writer.write(b"S")
        try:
            await asyncio.wait_for(self._writer.start_tls(context), self._stall_s)
        except (TimeoutError, OSError, ssl.SSLError):
            raise GoneError from None
        self.is_encrypted = True

    def abort(self) -> None:
        """End it at once."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """End it when all is sent."""
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)
        except (TimeoutError, OSError, ssl.SSLError):
            self.abort()

    async def _exactly(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError, ssl.SSLError):
            raise GoneError from None
