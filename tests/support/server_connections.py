"""A server's connection without a network: bytes are fed in, what it hands on and writes is kept."""

from __future__ import annotations

import socket
from time import perf_counter
from typing import Any

from lakeward.options.endpoint import Endpoint
from lakeward.protocol.frames import RequestHeader, response_frame
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.listener import Listener
from lakeward.rpc.server_connection import ConnectionLimits, ServerConnection
from lakeward.rpc.turns import Turns


class HeldTransport:
    """Keeps what is written; `is_full` plays a client that does not read."""

    def __init__(self, protocol: ServerConnection) -> None:
        self._protocol = protocol
        self._socket = socket.socket()
        self.written = bytearray()
        self.is_full = False
        self.is_closed = False
        self.reads = True

    def get_extra_info(self, name: str) -> Any:
        """What a connection asks its transport."""
        known = {"socket": self._socket, "peername": ("10.0.0.1", 4711), "sockname": ("127.0.0.1", 9123)}
        return known.get(name)

    def set_write_buffer_limits(self, **_limits: int) -> None:
        """Nothing is buffered here."""

    def writelines(self, parts: list) -> None:
        """Bytes leave."""
        assert not self.is_closed
        self.written += b"".join(parts)
        if self.is_full and self.reads:
            self._protocol.pause_writing()

    def pause_reading(self) -> None:
        """No more bytes, please."""
        self.reads = False

    def resume_reading(self) -> None:
        """Bytes are welcome."""
        self.reads = True

    def close(self) -> None:
        """The end, in good order."""
        if not self.is_closed:
            self.is_closed = True
            self._socket.close()
            self._protocol.connection_lost(None)

    abort = close


class Loop:
    """The little that a connection needs of an event loop."""

    def __init__(self) -> None:
        self.soon: list[Any] = []

    def time(self) -> float:
        """Time stands still."""
        return 0.0

    def call_soon(self, job: Any) -> None:
        """Kept until run."""
        self.soon.append(job)

    def run(self) -> None:
        """Do what was put off."""
        while self.soon:
            self.soon.pop(0)()


class Recorder:
    """Takes requests from connections and answers each with its own body."""

    def __init__(self) -> None:
        self.requests: list[tuple[RequestHeader, bytes]] = []
        self.http_requests: list[bytes] = []
        self.open = 0

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """Keep and echo."""
        self.requests.append((header, bytes(body)))
        connection.send(response_frame(header.request_id, [bytes(body)]))

    def http(self, _connection: ServerConnection, request: bytes) -> bytes:
        """Keep and answer."""
        self.http_requests.append(request)
        return b"HTTP/1.1 200 OK\r\n\r\n"

    def on_open(self, _connection: ServerConnection) -> None:
        """One more."""
        self.open += 1

    def on_close(self, _connection: ServerConnection) -> None:
        """One less."""
        self.open -= 1


class Wire:
    """A connection, its transport, and who it hands requests to."""

    def __init__(self, receiver: Any = None, frame_bytes: int = 1 << 20, pool: BufferPool | None = None) -> None:
        self.loop = Loop()
        self.receiver = Recorder() if receiver is None else receiver
        endpoint = Endpoint("FLUSS", "localhost", 9123)
        self.connection = ServerConnection(
            self.receiver,
            Listener(endpoint, endpoint),
            BufferPool() if pool is None else pool,
            Turns(self.loop, perf_counter),  # type: ignore[arg-type]
            ConnectionLimits(frame_bytes, 1 << 20),
            self.loop,  # type: ignore[arg-type]
        )
        self.transport = HeldTransport(self.connection)
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]

    def feed(self, data: bytes) -> int:
        """Deliver bytes as a socket would, no more than the connection has room for; returns how many were taken."""
        taken = 0
        while taken < len(data) and not self.transport.is_closed and self.transport.reads:
            room = self.connection.get_buffer(-1)
            assert len(room) > 0, "no room is offered"
            piece = data[taken : taken + len(room)]
            room[: len(piece)] = piece
            taken += len(piece)
            self.connection.buffer_updated(len(piece))
            self.loop.run()  # a slow machine may find that a client has had its share
        return taken
