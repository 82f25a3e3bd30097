"""TlsGate: a connection that is being encrypted. It has a place in the crowd, and a time to be done by.

A server could have the loop encrypt what it accepts; then nobody would count who never gets done, and all connections
would have the certificate of the start.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import cast

from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.bounds.crowd import Crowd

_log = logging.getLogger(__name__)


class TlsDoor:
    """Makes gates for one listener."""

    def __init__(
        self,
        context: Callable[[], ssl.SSLContext],
        crowd: Crowd,
        timeout_s: float,
        new_connection: Callable[[], asyncio.BaseProtocol],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`context` is the one of now; `new_connection` is what speaks when all is encrypted."""
        self._context = context
        self._crowd = crowd
        self._timeout_s = timeout_s
        self._new_connection = new_connection
        self._loop = loop
        self._told = SeldomLog(_log, loop.time)
        self._shaking: set[asyncio.Task[None]] = set()

    def gate(self) -> TlsGate:
        """For one more client."""
        return TlsGate(self)

    def begin(self, transport: asyncio.Transport, address: str) -> None:
        """Encrypt a connection that was just accepted, if there is a place for it."""
        why_not = self._crowd.enter(address)
        if why_not:
            self._told.warn(f"refused {address}: {why_not}")
            transport.abort()
            return
        shaking = self._loop.create_task(self._encrypt(transport, address))
        self._shaking.add(shaking)
        shaking.add_done_callback(self._shaking.discard)

    async def _encrypt(self, transport: asyncio.Transport, address: str) -> None:
        connection = self._new_connection()
        try:
            encrypted = await self._loop.start_tls(
                transport,
                connection,
                self._context(),
                server_side=True,
                ssl_handshake_timeout=self._timeout_s,
            )
        except (OSError, asyncio.CancelledError) as wrong:  # garbage, another version, no certificate, too slow
            self._told.warn(f"a connection from {address} could not be encrypted: {_reason(wrong)}")
            transport.abort()
            return
        finally:
            self._crowd.leave(address)  # the connection takes its own
        if encrypted is not None:
            connection.connection_made(encrypted)

    def close(self) -> None:
        """Wait for nobody any more."""
        for shaking in self._shaking:
            shaking.cancel()


class TlsGate(asyncio.Protocol):
    """Reads nothing itself: every byte is for the encryption."""

    def __init__(self, door: TlsDoor) -> None:
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        plain = cast("asyncio.Transport", transport)
        plain.pause_reading()
        peer = plain.get_extra_info("peername")
        self._door.begin(plain, peer[0] if peer else "?")


def _reason(wrong: BaseException) -> str:
    if isinstance(wrong, ssl.SSLError) and wrong.reason:
        return wrong.reason.replace("_", " ").lower()
    return str(wrong) or type(wrong).__name__
