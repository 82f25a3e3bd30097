"""Listener: a named address that accepts connections."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack

from lakeward.errors import ErrorCode
from lakeward.options.endpoint import Endpoint

_log = logging.getLogger(__name__)
#: As many wait to be accepted; the loop accepts as many in one turn.
_BACKLOG = 256
#: Whoever is taken by hand is to be encrypted, which takes half a millisecond each: others wait for few of them.
_BY_HAND = 16

#: How long nobody is accepted when there are no descriptors left.
_REST_S = 1.0


class Listener:
    """An endpoint's sockets: one per address its host has, all on the same port."""

    def __init__(
        self, bound: Endpoint, advertised: Endpoint, *, is_internal: bool = False, serves_cluster: bool = False
    ) -> None:
        """`is_internal` is said of one where only the servers of the cluster come in; one that `serves_cluster` is for
        them and for clients."""
        self.is_internal = is_internal
        self.serves_cluster = serves_cluster
        self._bound = bound
        self._advertised = advertised
        self._closings: list[Callable[[], None]] = []
        self.name = bound.name
        self.port = bound.port

    async def open(self, new_connection: Callable[[], asyncio.BaseProtocol]) -> None:
        """Bind and accept; a port that is taken is a sentence, not a trace."""
        loop = asyncio.get_running_loop()
        for bound in await self._bind_all(loop):
            server = await loop.create_server(new_connection, sock=bound, backlog=_BACKLOG)
            self._closings.append(server.close)

    async def open_by_hand(self, take: Callable[[socket.socket, str], None]) -> None:
        """The same for somebody who takes sockets, with the address of the client, and does the rest."""
        loop = asyncio.get_running_loop()
        for bound in await self._bind_all(loop):
            accepting = _Accepting(loop, bound, take)
            accepting.begin()
            self._closings.append(accepting.close)

    async def _bind_all(self, loop: asyncio.AbstractEventLoop) -> list[socket.socket]:
        with ExitStack() as undo:
            found = []
            for family, address in await self._addresses(loop):
                bound = self._bind(family, address)
                undo.callback(bound.close)
                self.port = bound.getsockname()[1]  # the first one picks a free port, the others follow it
                found.append(bound)
            undo.pop_all()
        return found

    async def _addresses(self, loop: asyncio.AbstractEventLoop) -> list[tuple[int, str]]:
        host = self._bound.host or None
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except socket.gaierror as wrong:
            raise ErrorCode.INVALID_CONFIG.error(f"Host '{host}' of {self._bound} is not known: {wrong}.") from wrong
        # IPv4 first: it is there on every machine, so the port it gets is the one that is told.
        return sorted({(family, str(address[0])) for family, *_, address in found})

    def _bind(self, family: int, address: str) -> socket.socket:
        new = socket.socket(family, socket.SOCK_STREAM)
        try:
            new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                new.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            new.bind((address, self.port))
            new.listen(_BACKLOG)
        except OSError as wrong:
            new.close()
            reason = "is in use" if wrong.errno == errno.EADDRINUSE else f"cannot be bound ({wrong.strerror})"
            raise ErrorCode.INVALID_CONFIG.error(
                f"Port {self.port} of {address} {reason}. Choose another one with --port, or 0 for a free one."
            ) from wrong
        return new

    def address_for(self, local_host: str) -> tuple[str, int]:
        """The address that clients of this listener are told; one that listens everywhere tells what they dialled."""
        everywhere = self._advertised.host in {"", "0.0.0.0", "::"}  # noqa: S104 - a comparison
        return (local_host if everywhere else self._advertised.host), self._advertised.port or self.port

    def close(self) -> None:
        """Accept no more."""
        for close in self._closings:
            close()
        self._closings.clear()


class _Accepting:
    """A socket that accepts, whenever the loop finds that somebody has come."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, bound: socket.socket, take: Callable[[socket.socket, str], None]
    ) -> None:
        self._loop = loop
        self._bound = bound
        self._take = take
        self._later: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Accept from now on."""
        self._bound.settimeout(0)
        self._loop.add_reader(self._bound, self._accept)

    def _accept(self) -> None:
        for _ in range(_BY_HAND):
            try:
                new, address = self._bound.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as wrong:
                _log.error("nobody is accepted for %g s: %s", _REST_S, wrong)
                self._loop.remove_reader(self._bound)
                self._later = self._loop.call_later(_REST_S, self.begin)
                return
            new.settimeout(0)
            self._take(new, str(address[0]))

    def close(self) -> None:
        """Accept no more."""
        if self._later is not None:
            self._later.cancel()
        self._loop.remove_reader(self._bound)
        self._bound.close()
