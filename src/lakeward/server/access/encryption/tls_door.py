"""TlsDoor: connections that are being encrypted. Each has a place in the crowd, and a time to be done by.

A server could have the loop encrypt what it accepts; then nobody would count who never gets done, and all connections
would have the certificate of the start.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.bounds.crowd import Crowd

_log = logging.getLogger(__name__)


class TlsDoor:
    """Of one listener."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: Callable[[], ssl.SSLContext],
        crowd: Crowd,
        timeout_s: float,
        new_connection: Callable[[], asyncio.BaseProtocol],
    ) -> None:
        """`context` is the one of now; `new_connection` is what speaks when all is encrypted."""
        self._loop = loop
        self._context = context
        self._crowd = crowd
        self._timeout_s = timeout_s
        self._new_connection = new_connection
        self._told = SeldomLog(_log, loop.time)
        self._begun: set[asyncio.Task[None]] = set()

    def take(self, accepted: socket.socket, address: str) -> None:
        """Encrypt a connection that was just accepted, if there is a place for it."""
        why_not = self._crowd.enter(address)
        if why_not:
            self._told.warn(f"refused {address}: {why_not}")
            accepted.close()
            return
        begun = self._loop.create_task(self._encrypt(accepted, address))
        self._begun.add(begun)
        begun.add_done_callback(self._begun.discard)

    async def _encrypt(self, accepted: socket.socket, address: str) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._new_connection, accepted, ssl=self._context(), ssl_handshake_timeout=self._timeout_s
            )
        except OSError as wrong:  # garbage, another version, no certificate, too slow
            self._told.warn(f"a connection from {address} could not be encrypted: {_reason(wrong)}")
        finally:
            self._crowd.leave(address)  # the connection has its own place by now

    def close(self) -> None:
        """Wait for nobody any more."""
        for begun in self._begun:
            begun.cancel()


def _reason(wrong: OSError) -> str:
    if isinstance(wrong, ssl.SSLError) and wrong.reason:
        return wrong.reason.replace("_", " ").lower()
    return str(wrong) or type(wrong).__name__
