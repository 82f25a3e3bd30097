"""One client's connection to the server: frames in, answers out.

Requests are started in the order they arrive; each is answered when it is done, in any order. Reading stops while the
client does not take its answers, so a client that never reads costs no more than what it was sent first.
The same port answers plain HTTP, told apart by the first four bytes.
"""

from __future__ import annotations

import asyncio
import mmap
import socket
from typing import NamedTuple, Protocol, cast

from lakeward.errors import LakewardError
from lakeward.protocol.codec import Parts
from lakeward.protocol.frames import (
    LENGTH_BYTES,
    REQUEST_HEADER,
    REQUEST_HEADER_BYTES,
    RequestHeader,
    failure_frame,
    frame_length,
)
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.listener import Listener

_SMALL_BUFFER_BYTES = 64 * 1024
#: After a large frame the next one is probably large too: read only its head into the small buffer, to copy little.
_PEEK_BYTES = 4096
#: Answers of one turn go out together, up to this size.
_FLUSH_BYTES = 1 << 20
_HTTP_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI")
_HTTP_REQUEST_BYTES_MAX = 16 * 1024
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


class Receiver(Protocol):
    """What a connection hands requests to."""

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """A whole request; `body` is valid only during the call."""

    def http(self, request: bytes) -> bytes:
        """A plain HTTP request → the whole answer."""

    def opened(self, connection: ServerConnection) -> None:
        """A client has come."""

    def closed(self, connection: ServerConnection) -> None:
        """A client has gone."""


class ConnectionLimits(NamedTuple):
    """How much of a connection the server holds in memory."""

    frame_bytes: int
    unread_answer_bytes: int


class ServerConnection(asyncio.BufferedProtocol):
    """A connection; `state` is a place where the server's parts may keep what they know of this client."""

    def __init__(
        self,
        receiver: Receiver,
        listener: Listener,
        pool: BufferPool,
        limits: ConnectionLimits,
        clock: asyncio.AbstractEventLoop,
    ) -> None:
        self._receiver = receiver
        self._listener = listener
        self._pool = pool
        self._limits = limits
        self._clock = clock
        self._small = bytearray(_SMALL_BUFFER_BYTES)
        self._large: mmap.mmap | None = None
        self._view = memoryview(self._small)
        self._start = 0
        self._end = 0
        self._read_limit = _SMALL_BUFFER_BYTES
        self._frame_end = 0
        self._out: Parts = []
        self._out_bytes = 0
        self._in_turn = False
        self._is_first = True
        self._is_http = False
        self._closing = False
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self.writes_paused = False
        self.active_at = clock.time()
        self.state: dict[str, object] = {}
        self.peer = "?"
        self.told_address: tuple[str, int] = ("", 0)

    # -- life

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._limits.unread_answer_bytes)
        # The transport's own socket object makes a new one for every option that is set; this one is made once.
        self._socket = socket.socket(fileno=transport.get_extra_info("socket").fileno())
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = transport.get_extra_info("peername")
        self.peer = f"{peer[0]}:{peer[1]}" if peer else "?"
        self.told_address = self._listener.told(transport.get_extra_info("sockname")[0])
        self._receiver.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """The client has gone, or we closed."""
        self._closing = True
        self._transport = None
        if self._socket is not None:
            self._socket.detach()  # the transport closes it
            self._socket = None
        self._release_large()
        self._receiver.closed(self)

    def close(self) -> None:
        """Write what is to be written, then close."""
        self._closing = True
        if self._transport is not None:
            self._flush()
            self._transport.close()

    def abort(self) -> None:
        """Close now, whatever is still to be written."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_closing(self) -> bool:
        """Whether answers would go nowhere."""
        return self._closing

    # -- bytes in

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        """Where the next bytes go."""
        return self._view[self._end : self._read_limit]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have come."""
        self._end += nbytes
        if self._end < self._frame_end:  # in the middle of a large frame
            return
        self.active_at = self._clock.time()
        self._take_frames()

    def _take_frames(self) -> None:
        self._in_turn = True
        try:
            while not self._closing and not self.writes_paused and self._take_frame():
                pass
        except LakewardError as wrong:
            self._out += failure_frame(wrong.code, wrong.message)
            self._closing = True
        finally:
            self._in_turn = False
        if self._closing:
            self.close()
        elif not self._flush() and not self._frame_end:
            self._quick_ack()  # a request waits here; nothing goes out that would acknowledge it by the way

    def _take_frame(self) -> bool:
        """Handle the next frame if it is whole; otherwise make room for the rest of it."""
        here = self._end - self._start
        if self._is_first and here >= LENGTH_BYTES:
            self._is_first = False
            self._is_http = bytes(self._view[self._start : self._start + LENGTH_BYTES]) in _HTTP_METHODS
        if self._is_http:
            return self._take_http(here)
        if here < LENGTH_BYTES:
            self._make_room(LENGTH_BYTES + REQUEST_HEADER_BYTES)
            return False
        head = self._view[self._start : self._start + LENGTH_BYTES]
        size = LENGTH_BYTES + frame_length(head, self._limits.frame_bytes, REQUEST_HEADER_BYTES)
        if here < size:
            self._make_room(size)
            self._frame_end = self._start + size
            self._quick_ack()
            return False
        self._frame_end = 0
        body_at = self._start + REQUEST_HEADER.size
        end = self._start + size
        _, api_key, version, request_id = REQUEST_HEADER.unpack_from(self._view, self._start)
        self._start = end
        self._receiver.request(self, RequestHeader(api_key, version, request_id), self._view[body_at:end])
        return True

    def _make_room(self, size: int) -> None:
        """See to it that a frame of this size, whose first bytes are here, fits into one buffer."""
        rest = self._view[self._start : self._end]
        if self._large is None and size <= _SMALL_BUFFER_BYTES:
            if self._start + size > _SMALL_BUFFER_BYTES or self._start == self._end:
                self._view[: len(rest)] = rest  # views copy overlapping ranges right
                self._start, self._end = 0, len(rest)
            self._read_limit = _SMALL_BUFFER_BYTES
            return
        if self._large is not None and self._start == 0 and len(self._large) >= size:
            self._read_limit = size
            return
        old = self._large
        if size <= _SMALL_BUFFER_BYTES:
            self._small[: len(rest)] = rest
            self._large, self._view = None, memoryview(self._small)
            self._read_limit = max(_PEEK_BYTES, size)
        else:
            large = self._pool.take(size)
            view = memoryview(large)
            view[: len(rest)] = rest
            self._large, self._view = large, view
            self._read_limit = size
        self._start, self._end = 0, len(rest)
        if old is not None:
            rest.release()
            self._pool.give(old)

    def _release_large(self) -> None:
        if self._large is not None:
            self._pool.give(self._large)
            self._large, self._view = None, memoryview(self._small)
            self._start = self._end = 0

    def _quick_ack(self) -> None:
        # Clients have Nagle on: what they sent must be acknowledged before they send a small piece more. Without
        # this they wait 40 ms, between a frame's length and its body, or behind a fetch that waits for rows.
        if _QUICKACK is not None and self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)

    def _take_http(self, here: int) -> bool:
        request = bytes(self._view[self._start : self._end])
        if b"\r\n\r\n" in request or here >= _HTTP_REQUEST_BYTES_MAX:
            self._out.append(self._receiver.http(request))
            self._closing = True
        else:
            self._make_room(_HTTP_REQUEST_BYTES_MAX)
        return False

    # -- bytes out

    def send(self, parts: Parts) -> None:
        """Write an answer; answers of one turn go out together."""
        if self._closing:
            return
        self._out += parts
        self._out_bytes += sum(map(len, parts))
        # A turn may take thousands of small requests with large answers: what piles up must pause the turn.
        if not self._in_turn or self._out_bytes > _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> bool:
        """Write what has been answered; whether there was anything."""
        if not self._out or self._transport is None:
            return False
        out, self._out, self._out_bytes = self._out, [], 0
        self._transport.writelines(out)
        return True

    def pause_writing(self) -> None:
        """The client does not take its answers: take no more of its requests."""
        self.writes_paused = True
        if self._transport is not None and not self._closing:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        self.writes_paused = False
        self.active_at = self._clock.time()
        if self._transport is not None and not self._closing:
            self._transport.resume_reading()
            self._clock.call_soon(self._take_frames)
