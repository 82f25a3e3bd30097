"""Frames in, answers out; the client that misbehaves harms nobody but itself."""

from __future__ import annotations

import asyncio
import mmap
import struct

import pytest
from server_connections import Recorder, Wire

from lakeward.errors import ErrorCode
from lakeward.protocol.codec import decode
from lakeward.protocol.frames import FAILURE, RequestHeader
from lakeward.protocol.messages.shared import ErrorResponse
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.server_connection import ServerConnection


def frame(body: bytes = b"", request_id: int = 1, api_key: int = 1000, version: int = 0) -> bytes:
    """A request."""
    return struct.pack(">ihhi", 8 + len(body), api_key, version, request_id) + body


def echo(body: bytes = b"", request_id: int = 1) -> bytes:
    """The answer to it."""
    return struct.pack(">ibi", 5 + len(body), 0, request_id) + body


def test_a_request_is_handed_on_and_its_answer_written() -> None:
    """Header and body arrive as they were sent."""
    wire = Wire()
    wire.feed(frame(b"body", 7, 1015, 2))
    assert wire.receiver.requests == [(RequestHeader(1015, 2, 7), b"body")]
    assert wire.transport.written == echo(b"body", 7)


def test_many_requests_in_one_piece_are_answered_together() -> None:
    """A pipelined burst is one turn: started in order, written at once."""
    wire = Wire()
    wire.feed(b"".join(frame(b"x" * n, n) for n in range(50)))
    assert [header.request_id for header, _ in wire.receiver.requests] == list(range(50))
    assert wire.transport.written == b"".join(echo(b"x" * n, n) for n in range(50))


@pytest.mark.parametrize("size", [0, 1, 60_000, 65_536 - 12, 65_536 - 11, 65_536, 131_072, 200_000, 900_000])
def test_frames_of_any_size_arrive_whole(size: int) -> None:
    """Small and large frames take turns, and bodies are what was sent."""
    body = bytes(range(256)) * (size // 256 + 1)
    wire = Wire()
    for number in range(3):
        wire.feed(frame(body[:size], number) + frame(b"small", 100 + number))
    assert [b for _, b in wire.receiver.requests] == [body[:size], b"small"] * 3


def test_the_largest_frame_is_accepted_and_one_more_byte_is_not() -> None:
    """The limit counts the whole frame, its length field included."""
    wire = Wire(frame_bytes=1000)
    wire.feed(frame(b"x" * (1000 - 12)))
    assert len(wire.receiver.requests) == 1
    wire.feed(frame(b"x" * (1000 - 11)))
    assert len(wire.receiver.requests) == 1
    assert wire.transport.is_closed


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 7, 2**31 - 1])
def test_an_impossible_length_is_told_and_ends_it(length: int) -> None:
    """The last words are a failure frame; requests before it are answered."""
    wire = Wire()
    wire.feed(frame(b"first") + struct.pack(">i", length) + frame(b"never seen"))
    assert [body for _, body in wire.receiver.requests] == [b"first"]
    rest = bytes(wire.transport.written[len(echo(b"first")) :])
    size, kind = struct.unpack_from(">ib", rest)
    assert (kind, size + 4) == (FAILURE, len(rest))
    assert decode(ErrorResponse, rest[5:]).error_code == ErrorCode.CORRUPT_MESSAGE.value
    assert wire.transport.is_closed
    assert wire.receiver.open == 0


def test_nothing_is_read_while_answers_are_not_taken() -> None:
    """A client that does not read is not served further until it does, and then from where it was."""
    wire = Wire()
    wire.transport.is_full = True
    wire.feed(frame(b"a", 1))
    assert not wire.transport.reads
    assert wire.feed(frame(b"b", 2)) == 0
    wire.transport.is_full = False
    wire.connection.resume_writing()
    wire.loop.run()
    wire.feed(frame(b"b", 2) + frame(b"c", 3))
    assert [body for _, body in wire.receiver.requests] == [b"a", b"b", b"c"]


def test_large_answers_stop_the_turn_that_makes_them() -> None:
    """A burst of small requests with large answers does not pile up: it is paused in the middle, and goes on later."""
    from lakeward.protocol.frames import response_frame

    class Large:
        def __init__(self) -> None:
            self.count = 0

        def request(self, connection: object, header: RequestHeader, _body: memoryview) -> None:
            self.count += 1
            connection.send(response_frame(header.request_id, [bytes(300_000)]))  # type: ignore[attr-defined]

        def on_open(self, _connection: object) -> None: ...

        def on_close(self, _connection: object) -> None: ...

    wire = Wire(Large())
    wire.transport.is_full = True
    wire.feed(b"".join(frame(b"", n) for n in range(1000)))
    assert wire.receiver.count < 10
    wire.transport.is_full = False
    wire.connection.resume_writing()
    wire.loop.run()
    assert wire.receiver.count == 1000
    assert len(wire.transport.written) == 1000 * (300_000 + 9)


def test_a_large_buffer_goes_back_when_the_client_goes() -> None:
    """Also in the middle of a frame."""
    pool = BufferPool()
    wire = Wire(pool=pool)
    wire.feed(frame(bytes(500_000))[:300_000])
    buffer = wire.connection._in.large
    assert isinstance(buffer, mmap.mmap)
    wire.connection.connection_lost(None)
    assert pool.take(500_000) is buffer


def test_a_large_buffer_goes_back_when_its_frame_is_done() -> None:
    """Idle connections hold no large buffers."""
    pool = BufferPool()
    wire = Wire(pool=pool)
    wire.feed(frame(bytes(500_000)))
    assert wire.connection._in.large is None
    first = pool.take(500_000)
    pool.give(first)
    assert pool.take(500_000) is first


def test_answers_after_the_end_go_nowhere() -> None:
    """A handler that answers late does not have to know whether its client is still there."""
    wire = Wire()
    wire.feed(frame(b"a"))
    wire.connection.close()
    before = bytes(wire.transport.written)
    wire.connection.send([b"late"])
    wire.connection.close()
    wire.connection.abort()
    assert wire.transport.written == before
    assert wire.connection.is_closing
    assert wire.receiver.open == 0


def test_a_late_answer_is_written_at_once() -> None:
    """Outside a turn nothing waits for company."""
    wire = Wire()
    wire.connection.send([b"ab", b"cd"])
    assert wire.transport.written == b"abcd"


@pytest.mark.parametrize("method", [b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI"])
def test_http_is_told_apart_by_its_first_bytes(method: bytes) -> None:
    """A browser gets an answer and an end."""
    wire = Wire()
    wire.feed(method + b"x HTTP/1.1\r\nHost: y\r\n\r\n")
    assert wire.receiver.http_requests == [method + b"x HTTP/1.1\r\nHost: y\r\n\r\n"]
    assert wire.transport.written == b"HTTP/1.1 200 OK\r\n\r\n"
    assert wire.transport.is_closed


def test_http_may_come_in_pieces_but_not_for_ever() -> None:
    """Byte by byte is fine; more than a sane request has is answered as it stands."""
    wire = Wire()
    for byte in b"GET /health HTTP/1.1\r\n\r\n":
        wire.feed(bytes([byte]))
    assert len(wire.receiver.http_requests) == 1
    endless = Wire()
    endless.feed(b"GET /" + b"x" * 100_000)
    assert endless.transport.is_closed
    assert len(endless.receiver.http_requests[0]) <= 65_536


def test_http_is_only_looked_for_at_the_beginning() -> None:
    """Later, the same four bytes are an impossible length."""
    wire = Wire()
    wire.feed(frame() + b"GET / HTTP/1.1\r\n\r\n")
    assert wire.receiver.http_requests == []
    assert wire.transport.is_closed


class CountedPool(BufferPool):
    """Knows how many small buffers are out."""

    out = 0

    def take_small(self) -> bytearray:
        """One more."""
        self.out += 1
        return super().take_small()

    def give_small(self, buffer: bytearray) -> None:
        """One less."""
        self.out -= 1
        super().give_small(buffer)


class Waiting:
    """A request that is done when somebody says so."""

    def __init__(self) -> None:
        self.awaits: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def advance(self, _until: float) -> bool:
        """Whether it is done."""
        return self.awaits.done()

    def drop(self) -> None:
        """Nobody waits any more."""


class Refusing(Recorder):
    """The first request waits, and is not looked at again."""

    waiting: Waiting | None = None

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """Wait, or answer."""
        super().request(connection, header, body)
        if self.waiting is None:
            self.waiting = Waiting()
            connection.free_buffer()
            connection.begin(self.waiting)


async def test_who_waits_without_a_buffer_finds_what_came_behind() -> None:
    """Whole requests and half of one, sent together with the one that waits, are read when that is done."""
    pool, refusing = CountedPool(), Refusing()
    wire = Wire(refusing, pool=pool)
    last = frame(b"last", 4)
    wire.feed(frame(b"login", 1) + frame(b"a", 2) + frame(b"b", 3) + last[:-2])
    assert pool.out == 0
    assert [header.request_id for header, _ in refusing.requests] == [1]
    assert refusing.waiting is not None
    refusing.waiting.awaits.set_result(None)
    await asyncio.sleep(0)
    wire.loop.run()
    wire.feed(last[-2:])
    assert [body for _, body in refusing.requests] == [b"login", b"a", b"b", b"last"]
    assert pool.out == 0


class Kept(Recorder):
    """Answers nothing: every request waits."""

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """Only keep."""
        self.requests.append((header, bytes(body)))


def test_a_request_that_waits_is_acknowledged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the client's Nagle holds its next request back: 40 ms for a writer beside a reader on one connection."""
    acknowledged: list[int] = []
    monkeypatch.setattr(ServerConnection, "_quick_ack", lambda self: acknowledged.append(len(acknowledged)))
    waiting = Wire(Kept())
    waiting.feed(frame(b"fetch", 1))
    assert len(acknowledged) == 1
    answered = Wire()
    answered.feed(frame(b"produce", 2))
    assert len(acknowledged) == 1, "the answer acknowledges by the way"
