"""Bytes of a client: split anywhere, garbage, and lengths that are lies."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import ssl
import struct
from pathlib import Path
from typing import Any, cast

import pytest
from certificates import Authority
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.wire import MESSAGE_BYTES_MAX, STARTUP_BYTES_MAX, GoneError, Wire


def wire_of(pieces: list[bytes]) -> Wire:
    """A connection on which these bytes come, and then its end."""
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    return Wire(reader, cast(Any, None))


_messages = st.lists(st.tuples(st.characters(min_codepoint=33, max_codepoint=126), st.binary(max_size=50)), max_size=5)


@given(_messages, st.lists(st.integers(0, 300), max_size=8))
@settings(deadline=None)
def test_messages_come_however_they_are_split(sent: list[tuple[str, bytes]], cuts: list[int]) -> None:
    """Then the client has gone."""
    data = b"".join(m.message(letter.encode(), body) for letter, body in sent)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    async def read() -> list[tuple[str, bytes]]:
        wire = wire_of([data[a:b] for a, b in itertools.pairwise(edges)])
        found = [await wire.next() for _ in sent]
        with pytest.raises(GoneError):
            await wire.next()
        return [(one.letter, one.body.data) for one in found]

    assert asyncio.run(read()) == sent


@pytest.mark.parametrize("size", [-(1 << 31), -1, 0, 3, MESSAGE_BYTES_MAX + 1, (1 << 31) - 1])
async def test_a_length_that_none_has_is_refused_before_anything_is_held(size: int) -> None:
    """Too short for itself, below zero, or huge."""
    with pytest.raises(m.ProtocolError):
        await wire_of([b"Q" + struct.pack("!i", size)]).next()


@pytest.mark.parametrize("size", [-1, 0, 7, STARTUP_BYTES_MAX + 1, (1 << 31) - 1])
async def test_a_first_message_has_a_size_that_one_has(size: int) -> None:
    """Strangers may send little."""
    with pytest.raises(m.ProtocolError):
        await wire_of([struct.pack("!i", size) + b"x" * 100]).first()


async def test_a_client_that_is_quicker_than_we_are_is_encrypted(tmp_path: Path) -> None:
    """Its first bytes of TLS come before we begin, and are not taken for bytes that were sent too early."""
    authority = Authority(tmp_path)
    certificate, key = authority.sign("sql", "localhost")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    heard: asyncio.Future[tuple[str, bool]] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire, begin = Wire(reader, writer), writer.start_tls

        async def begin_late(context: ssl.SSLContext) -> None:
            await asyncio.sleep(0.2)
            await begin(context)

        writer.start_tls = begin_late  # type: ignore[method-assign,assignment]
        try:
            await wire.first()
            await wire.encrypt(context)
            heard.set_result(((await wire.next()).letter, wire.is_encrypted))
        except Exception as wrong:  # noqa: BLE001 - for the test
            heard.set_exception(wrong)
        await wire.close()

    def ask(port: int) -> None:
        trusting = ssl.create_default_context(cafile=authority.ca_file)
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            plain.sendall(struct.pack("!ii", 8, m.SSL_REQUEST))
            assert plain.recv(1) == b"S"
            with trusting.wrap_socket(plain, server_hostname="localhost") as safe:
                safe.sendall(m.message(b"X"))
                safe.recv(1)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        await asyncio.to_thread(ask, server.sockets[0].getsockname()[1])
        assert await heard == ("X", True)


async def test_bytes_before_encryption_are_refused() -> None:
    """They may be somebody else's."""
    wire = wire_of([b"Q\0\0\0\4"])
    with pytest.raises(m.ProtocolError, match="before encryption"):
        await wire.encrypt(cast(Any, None))


@given(st.binary(max_size=40))
@settings(deadline=None)
def test_garbage_is_a_message_or_an_error_of_ours(data: bytes) -> None:
    """Nothing else is ever raised."""

    async def read() -> None:
        for way in ("first", "next"):
            with contextlib.suppress(m.ProtocolError, GoneError):
                await getattr(wire_of([data]), way)()

    asyncio.run(read())
