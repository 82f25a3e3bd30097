"""The server's frame reader: how the network cuts the stream does not matter, and no stream breaks it."""

from __future__ import annotations

import struct
from itertools import pairwise

from examples import EXAMPLES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from server_connections import Wire

from lakeward.protocol.frames import FAILURE

FRAME_BYTES_MAX = 300_000
_TEXTURE = bytes(range(256)) * 1200

i16 = st.integers(-(2**15), 2**15 - 1)
i32 = st.integers(-(2**31), 2**31 - 1)
#: Mostly small bodies, and some around the sizes at which buffers change.
sizes = st.integers(0, 300) | st.sampled_from([4080, 4096, 65_500, 65_524, 65_525, 65_536, 70_000, 131_072, 200_000])
requests = st.tuples(i16, i16, i32, sizes)


def stream_of(asked: list[tuple[int, int, int, int]]) -> bytes:
    """The bytes of these requests."""
    return b"".join(
        struct.pack(">ihhi", 8 + size, key, version, number) + _TEXTURE[:size] for key, version, number, size in asked
    )


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data cut at some places."""
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(places)]


@given(st.lists(requests, min_size=1, max_size=12), st.lists(st.integers(0, 2**30), max_size=30))
def test_chunking_is_invisible(asked: list[tuple[int, int, int, int]], cuts: list[int]) -> None:
    """Any chunking of a stream gives the same requests in the same order, and the same answers."""
    wire = Wire(frame_bytes=FRAME_BYTES_MAX)
    data = stream_of(asked)
    for piece in pieces(data, cuts):
        assert wire.feed(piece) == len(piece)
    got = [(*header, len(body)) for header, body in wire.receiver.requests]
    assert got == asked
    assert all(body == _TEXTURE[: len(body)] for _, body in wire.receiver.requests)
    answers = b"".join(struct.pack(">ibi", 5 + size, 0, number) + _TEXTURE[:size] for _, _, number, size in asked)
    assert wire.transport.written == answers
    assert not wire.transport.is_closed


@given(st.lists(requests, min_size=1, max_size=8), st.lists(st.integers(0, 2**30), max_size=10), st.data())
def test_pauses_are_invisible(asked: list[tuple[int, int, int, int]], cuts: list[int], data: st.DataObject) -> None:
    """A client that stops taking answers now and then still gets all of them, in order."""
    wire = Wire(frame_bytes=FRAME_BYTES_MAX)
    stream = stream_of(asked)
    sent = 0
    for piece in pieces(stream, cuts):
        wire.transport.is_full = data.draw(st.booleans())
        done = 0
        while done < len(piece):
            done += wire.feed(piece[done:])
            if not wire.transport.reads:
                wire.transport.is_full = data.draw(st.booleans())
                wire.connection.resume_writing()
                wire.loop.run()
        sent += done
    while not wire.transport.reads:
        wire.transport.is_full = False
        wire.connection.resume_writing()
        wire.loop.run()
    assert sent == len(stream)
    assert [(*header, len(body)) for header, body in wire.receiver.requests] == asked


@settings(max_examples=5 * EXAMPLES)
@given(
    st.lists(requests, max_size=3), st.binary(min_size=1, max_size=400), st.lists(st.integers(0, 2**30), max_size=10)
)
@example([], b"GET ", [])
@example([], b"GET / HTTP/1.1\r\n\r\n" * 9, [3, 5])
@example([], b"\x00\x00\x00\x08" * 30, [1])
def test_garbage_ends_in_a_failure_frame_or_waits(asked: list, garbage: bytes, cuts: list[int]) -> None:
    """Whatever comes behind good requests, they are answered; the rest is a request, awaited, or the end."""
    wire = Wire(frame_bytes=FRAME_BYTES_MAX)
    for piece in pieces(stream_of(asked) + garbage, cuts):
        wire.feed(piece)
    got = [(*header, len(body)) for header, body in wire.receiver.requests]
    assert got[: len(asked)] == asked
    if wire.transport.is_closed and not wire.receiver.http_requests:
        assert _last_frame_kind(bytes(wire.transport.written)) == FAILURE
        assert wire.receiver.open == 0


def _last_frame_kind(data: bytes) -> int:
    """What kind of frame a connection ended with; every frame before it is whole."""
    kind, at = -1, 0
    while at < len(data):
        size, kind = struct.unpack_from(">ib", data, at)
        at += 4 + size
    assert at == len(data)
    return kind
