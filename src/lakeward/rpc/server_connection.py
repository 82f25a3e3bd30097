"""One client's connection to the server: frames in, answers out.

Requests are started in the order they arrive; each is answered when it is done, in any order. Reading stops while the
client does not take its answers, so a client that never reads costs no more than what it was sent first; and while
its requests wait for their turn, so a client that sends more than its share waits for others, not they for it.
The same port answers plain HTTP, told apart by the first four bytes.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, cast

from lakeward.errors import LakewardError
from lakeward.model.principal import ANONYMOUS, Principal
from lakeward.protocol.codec import Parts
from lakeward.protocol.frame_reader import FrameReader
from lakeward.protocol.frames import LENGTH_BYTES, REQUEST_HEADER_BYTES, RequestHeader, request_in
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.encrypted_writes import EncryptedWrites
from lakeward.rpc.error_answers import last_words
from lakeward.rpc.listener import Listener
from lakeward.rpc.rest import Rest
from lakeward.rpc.turns import SLICE_S, SteppedRequest, Turns

#: Answers of one turn go out together, up to this size.
_FLUSH_BYTES = 1 << 20
_HTTP_METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI")
_HTTP_REQUEST_BYTES_MAX = 16 * 1024
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)
#: A socket may be read many times in a turn. Who takes more of it than this has its requests queued for a while.
_TURN_SHARE_S = 0.002
_QUEUED_S = 0.050


class Receiver(Protocol):
    """What a connection hands requests to."""

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """A whole request; `body` is valid only during the call."""

    def http(self, connection: ServerConnection, request: bytes) -> bytes | asyncio.Future[bytes]:
        """A plain HTTP request → the whole answer, now or later."""

    def on_open(self, connection: ServerConnection) -> None:
        """A client has come."""

    def on_close(self, connection: ServerConnection) -> None:
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
        turns: Turns,
        limits: ConnectionLimits,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._receiver = receiver
        self._listener = listener
        #: The name of the listener that the client came to, and whether only servers of the cluster come there.
        self.listener, self.is_internal = listener.name, listener.is_internal
        #: Whether a server of the cluster may be at the other end, too.
        self.serves_cluster = listener.serves_cluster
        self._pool = pool
        self._turns = turns
        self.now = turns.now
        self._limits = limits
        self._loop = loop
        self._in = FrameReader(pool, header_bytes=REQUEST_HEADER_BYTES, frame_bytes_max=limits.frame_bytes)
        self._stepped: deque[SteppedRequest] = deque()
        self._awaits: asyncio.Future[Any] | None = None
        self._queued_until = self._turn_at = self._turn_used = 0.0
        self._is_queued = self._lacks_memory = self._in_turn = self._is_http = self._closing = False
        self._is_first = self._is_reading = True
        self._rest = Rest(loop, self._queue)
        self._out: Parts = []
        self._out_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._sealed: EncryptedWrites | None = None
        self._socket: socket.socket | None = None
        self.writes_paused = False
        self.active_at = self.frame_at = loop.time()
        self.state: dict[str, object] = {}
        self._endings: list[Callable[[], None]] = []
        self.principal, self.address, self.peer = ANONYMOUS, "?", "?"
        #: What the client has shown of itself when the connection was encrypted, checked; empty if nothing.
        self.certificate: Mapping[str, Any] = {}
        self.told_address: tuple[str, int] = ("", 0)

    # -- life

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._limits.unread_answer_bytes)
        self._sealed = EncryptedWrites.of(self._transport)
        # The transport's own socket object makes a new one for every option that is set; this one is made once.
        if transport.get_extra_info("socket").family != socket.AF_UNIX:
            self._socket = socket.socket(fileno=transport.get_extra_info("socket").fileno())
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.told_address = self._listener.address_for(transport.get_extra_info("sockname")[0])
        if peer := transport.get_extra_info("peername"):
            self.address, self.peer = peer[0], f"{peer[0]}:{peer[1]}"
        self.certificate = transport.get_extra_info("peercert") or {}
        self._receiver.on_open(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """The client has gone, or we closed."""
        self._closing = True
        self._transport = None
        if self._socket is not None:
            self._socket.detach()  # the transport closes it
            self._socket = None
        self._rest.drop()
        for stepped in self._stepped:
            stepped.drop()
        self._stepped.clear()
        if self._awaits is None:  # else a thread may look into it
            self._in.clear()
        for act in self._endings:
            act()
        self._receiver.on_close(self)

    def await_login(self, frame_bytes: int) -> None:
        """Take only small frames until the client is let in."""
        self._in.limit(frame_bytes)

    def free_buffer(self) -> None:
        """Hold no more than what is still to be read: nobody looks into the requests that were handed on."""
        self._in.shrink()

    def let_in(self, principal: Principal) -> None:
        """From now on we know who the client is."""
        self.principal = principal
        self._in.limit(self._limits.frame_bytes)

    def close(self) -> None:
        """Write what is to be written, then close."""
        self._closing = True
        if self._transport is not None:
            self._flush()
            if self._sealed is not None:
                self._sealed.finish()
            self._transport.close()

    def abort(self) -> None:
        """Close now, whatever is still to be written."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    def when_closed(self, act: Callable[[], None]) -> None:
        """Act when the client has gone."""
        self._endings.append(act)

    @property
    def is_closing(self) -> bool:
        """Whether answers would go nowhere."""
        return self._closing

    @property
    def is_unfinished(self) -> bool:
        """Whether the rest of a large frame is awaited; `frame_at` says since when, `active_at` when bytes came."""
        return self._in.large is not None and self._in.awaited_bytes > 0

    @property
    def awaited_bytes(self) -> int:
        """The size of the frame of which only a part is here, or 0."""
        return self._in.awaited_bytes

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the client has not taken."""
        held = 0 if self._sealed is None else self._sealed.size
        return 0 if self._transport is None else held + self._transport.get_write_buffer_size()

    @property
    def is_http(self) -> bool:
        """Whether the client speaks HTTP."""
        return self._is_http

    # -- bytes in

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        """Where the next bytes go."""
        return self._in.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have come."""
        if not self._in.fill(nbytes):  # in the middle of a frame
            self.active_at = self._loop.time()
            self._in.shrink()  # who sends a few bytes at a time holds no more than those
            return
        now = self.now()
        if now < self._queued_until:
            self._queue()
        elif self._take_frames(now, now + SLICE_S if self._turns.is_idle else now):  # one request where others wait
            self._queued_until = now + _QUEUED_S
            self._queue()

    def begin(self, stepped: SteppedRequest) -> None:
        """Handle a request a bit at a time; the next ones wait until it is done."""
        self._stepped.append(stepped)
        if not self._in_turn:
            self._queue()

    def take_turn(self, until: float) -> bool:
        """Handle what has waited; True when there is more."""
        if self._closing:
            return False
        now = self.now()
        if self._take_frames(now, until):
            self._queued_until = now + _QUEUED_S
            return True
        self._is_queued = False  # who asks for one thing at a time is soon out of the queue again
        self._set_reading()
        return False

    def _queue(self) -> None:
        if not self._is_queued and not self._closing:
            self._is_queued = True
            self._set_reading()
            self._turns.join(self)

    def rest(self, seconds: float) -> None:
        """Take no more requests for a while; those that were taken are answered."""
        if not self._closing:
            self._rest.take(seconds)
            self._set_reading()

    def _wait_for(self, awaited: asyncio.Future[Any]) -> None:
        """Take no more requests until something is done."""
        self._awaits = awaited
        self._set_reading()
        awaited.add_done_callback(self._go_on)

    def _go_on(self, _: asyncio.Future[Any]) -> None:
        self._awaits = None
        if self._transport is None:
            self._in.clear()
        elif not self._closing:
            self._queue()

    def _set_reading(self) -> None:
        pauses = self.writes_paused or self._is_queued or self._lacks_memory
        reading = not pauses and self._awaits is None and not self._rest.is_on
        if reading != self._is_reading and self._transport is not None and not self._closing:
            self._is_reading = reading
            if reading:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _take_frames(self, now: float, until: float) -> bool:
        """Handle requests until about that time; True when there are more."""
        self.active_at = self._loop.time()
        self._in_turn = True
        more = False
        try:
            while not self._closing and not self.writes_paused and self._awaits is None:
                if self._stepped:
                    stepped = self._stepped[0]
                    if stepped.advance(until):
                        if self._stepped:
                            self._stepped.popleft()
                    elif stepped.awaits is not None:
                        self._wait_for(stepped.awaits)
                        continue
                elif self._rest.is_on:
                    break
                elif not self._take_frame():
                    self._in.shrink()
                    break
                if self.now() >= until and (self._stepped or self._in.unread_bytes >= LENGTH_BYTES):
                    more = True
                    break
        except LakewardError as wrong:
            self._out += last_words(wrong)
            self._closing = True
        finally:
            self._in_turn = False
        if self._closing:
            self.close()
            return False
        if not self._flush() and not self._in.awaited_bytes:
            self._quick_ack()  # a request waits here; nothing goes out that would acknowledge it by the way
        return more or self._has_had_its_share(now)

    def _has_had_its_share(self, begun: float) -> bool:
        """Whether this client has had more than its share of this turn; the loop's time stands still in a turn."""
        if self.active_at != self._turn_at:
            self._turn_at, self._turn_used = self.active_at, 0.0
        self._turn_used += self.now() - begun
        return self._turn_used > _TURN_SHARE_S and not self._is_queued

    def _take_frame(self) -> bool:
        """Hand on the next request if it is whole."""
        if self._is_first and self._in.unread_bytes >= LENGTH_BYTES:
            self._is_first = False
            self._is_http = bytes(self._in.peek()[:LENGTH_BYTES]) in _HTTP_METHODS
        if self._is_http:
            return self._take_http()
        frame = self._in.take_frame()
        if frame is None:
            self._await_frame()
            return False
        self._receiver.request(self, *request_in(frame))
        return True

    def _await_frame(self) -> None:
        if self._in.lacks_memory:
            self._lacks_memory = True
            self._set_reading()
            self._pool.when_given(self._on_memory)
        elif self._in.awaited_bytes:
            self.frame_at = self.active_at
            self._quick_ack()

    def _on_memory(self) -> None:
        if not self._closing:
            self._lacks_memory = False
            self._queue()

    def _quick_ack(self) -> None:
        # Clients have Nagle on: what they sent must be acknowledged before they send a small piece more. Without
        # this they wait 40 ms, between a frame's length and its body, or behind a fetch that waits for rows.
        if _QUICKACK is not None and self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)

    def _take_http(self) -> bool:
        request = bytes(self._in.peek())
        if b"\r\n\r\n" in request or len(request) >= _HTTP_REQUEST_BYTES_MAX:
            answer = self._receiver.http(self, request)
            if isinstance(answer, bytes):
                self._out.append(answer)
                self._closing = True
            else:
                answer.add_done_callback(self._end_with)  # before we go on, and would ask again
                self._in.clear()
                self._wait_for(answer)
        else:
            self._in.make_room(_HTTP_REQUEST_BYTES_MAX)
        return False

    def _end_with(self, answer: asyncio.Future[bytes]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self.send([answer.result()])
        self.close()

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
        (self._transport.writelines if self._sealed is None else self._sealed.add)(out)
        return True

    def pause_writing(self) -> None:
        """The client does not take its answers: take no more of its requests."""
        self.writes_paused = True
        if self._sealed is not None:
            self._sealed.hold()
        self._set_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        self.writes_paused = False
        self.active_at = self._loop.time()
        if self._sealed is not None:
            self._sealed.release()
        if not self.writes_paused:
            self._queue()
