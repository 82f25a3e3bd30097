"""Front: the clients of a server: they come, ask, are answered and go."""

from __future__ import annotations

import asyncio
import logging
import socket
from functools import partial
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.options import server as rows
from lakeward.options.endpoint import Endpoint
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.frames import RequestHeader
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.dispatch import Dispatcher
from lakeward.rpc.error_answers import request_refusal
from lakeward.rpc.listener import Listener
from lakeward.rpc.server_connection import ConnectionLimits, ServerConnection
from lakeward.rpc.turns import Turns
from lakeward.runtime.process.descriptors import raise_limit
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.access import Access
from lakeward.server.access.doorkeeper import Pages
from lakeward.server.access.encryption.tls_door import TlsDoor
from lakeward.server.ground import OPEN_FILES_MAX

_log = logging.getLogger(__name__)
#: Descriptors for everything that is neither a client nor a log: metadata, state, remote storage, threads.
_OTHER_FILES = 256
#: Fewer are of no use to anybody.
_CONNECTIONS_MIN = 16
_DRAIN_S = 5.0
_INTERNAL = Endpoint("(servers of the cluster)", "", 0)
_LOOK_S = 0.02


class ListenerAddress(NamedTuple):
    """Where clients of a listener come in, and how."""

    name: str
    protocol: str
    host: str
    port: int
    #: The host that clients are told; none where they are told what they dialled.
    told_host: str = ""


class Front:
    """Hands requests to the dispatcher; a `Receiver` of connections."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: ServerOptions,
        connections: set[ServerConnection],
        pool: BufferPool,
        turns: Turns,
        dispatcher: Dispatcher,
        access: Access,
        pages: Pages,
        cluster_listener: str | None = None,
    ) -> None:
        """`connections` are those that are open: filled here, watched by others; `pages` answers plain HTTP; by the
        `cluster_listener` the other servers of a cluster come in, too."""
        self._loop = loop
        self._connections = connections
        self._pool = pool
        self._turns = turns
        self._dispatcher = dispatcher
        self._pages = pages
        self._access = access
        self._idle_s = options.get(rows.MAX_IDLE_TIME) / 1000
        self._limits = ConnectionLimits(
            frame_bytes=options.get(rows.MAX_REQUEST_SIZE),
            unread_answer_bytes=options.get(rows.MAX_PENDING_RESPONSE_SIZE),
        )
        self._tls_doors: list[TlsDoor] = []
        self._refusals = SeldomLog(_log, loop.time)
        self.accepted_count = self.refused_count = 0
        advertised = options.advertised_listeners()
        self._listeners = [
            Listener(endpoint, advertised[endpoint.name], serves_cluster=endpoint.name == cluster_listener)
            for endpoint in options.get(rows.BIND_LISTENERS)
        ]

    async def open(self) -> list[ListenerAddress]:
        """Let clients come; the addresses where they may."""
        for listener in self._listeners:
            new_connection = partial(self.connection, listener)
            door = self._access.tls_door(listener.name, new_connection)
            if door is None:
                await listener.open(new_connection)
            else:
                self._tls_doors.append(door)
                await listener.open_by_hand(door.take)
        return [self._address(listener) for listener in self._listeners]

    def _address(self, listener: Listener) -> ListenerAddress:
        host, port = listener.address_for("localhost")
        told, _ = listener.address_for("")
        return ListenerAddress(listener.name, self._access.protocol_of(listener.name), host, port, told)

    def connection(self, listener: Listener) -> ServerConnection:
        """The protocol of one more client."""
        return ServerConnection(self, listener, self._pool, self._turns, self._limits, self._loop)

    async def take_server(self, there: socket.socket) -> None:
        """Have another server of the cluster at the other end of a connection, as if it had come by a listener."""
        listener = Listener(_INTERNAL, _INTERNAL, is_internal=True)
        await self._loop.create_unix_connection(partial(self.connection, listener), sock=there)

    def close_idle(self) -> None:
        """Close connections of clients that have said nothing for long."""
        for connection in list(self._connections):
            if self._loop.time() - connection.active_at > self._idle_s:
                connection.abort()

    def refuse(self) -> None:
        """Let nobody come any more."""
        for listener in self._listeners:
            listener.close()
        for door in self._tls_doors:
            door.close()

    async def drain(self) -> None:
        """Take no more requests, and give those that are answered a moment to reach their clients."""
        for connection in list(self._connections):
            connection.close()
        for _ in range(int(_DRAIN_S / _LOOK_S)):
            if not self._connections:
                break
            await asyncio.sleep(_LOOK_S)
        for connection in list(self._connections):
            connection.abort()

    # -- what connections say

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """A request has come."""
        wrong = self._access.doorkeeper.refusal(connection, header.api_key)
        if wrong is None:
            self._dispatcher.request(connection, header, body)
        else:
            connection.send(request_refusal(header.request_id, wrong))

    def http(self, connection: ServerConnection, request: bytes) -> bytes | asyncio.Future[bytes]:
        """A plain HTTP request has come."""
        return self._access.doorkeeper.page(connection, request, self._pages)

    def on_open(self, connection: ServerConnection) -> None:
        """A client has come."""
        if connection.is_internal:
            return  # it was invited
        why_not = self._access.crowd.enter(connection.address)
        if why_not:
            self.refused_count += 1
            self._refusals.warn(f"refused {connection.peer}: {why_not}")
            connection.abort()
            return
        self.accepted_count += 1
        self._connections.add(connection)
        self._access.doorkeeper.greet(connection)

    def on_close(self, connection: ServerConnection) -> None:
        """A client has gone."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._access.crowd.leave(connection.address)
            self._access.doorkeeper.forget(connection)


def allowed_connections(wanted: int) -> int:
    """As many as were asked for, or as descriptors are left for."""
    others = OPEN_FILES_MAX + _OTHER_FILES
    files = raise_limit(wanted + others)
    left = min(files - others, wanted)
    if left < min(wanted, _CONNECTIONS_MIN):
        raise ErrorCode.INVALID_CONFIG.error(
            f"The system allows {files} open files (ulimit -n), and a server needs {others + _CONNECTIONS_MIN}:"
            f" {others} for logs and such, and some for clients. Raise the limit."
        )
    if left < wanted:
        _log.warning(
            "at most %d connections instead of %d: the system allows %d open files (ulimit -n)", left, wanted, files
        )
    return left
