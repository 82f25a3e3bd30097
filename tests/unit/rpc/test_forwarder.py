"""What comes to a forwarder reaches the server behind it, and the other way round."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from lakeward.options.endpoint import Endpoint
from lakeward.rpc.forwarder import Forwarder

_NOBODY = ("127.0.0.1", 1)


@contextlib.asynccontextmanager
async def _echo() -> AsyncIterator[tuple[str, int]]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.read())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()


@contextlib.asynccontextmanager
async def _forwarder(*targets: tuple[str, int]) -> AsyncIterator[int]:
    forwarder = Forwarder(targets)
    try:
        yield (await forwarder.listen(Endpoint("FLUSS", "127.0.0.1", 0))).port
    finally:
        await forwarder.close()


async def _said(port: int, text: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.closing(writer):
        writer.write(text)
        writer.write_eof()
        return await reader.read()


async def test_bytes_go_on_and_come_back() -> None:
    """Both ways, with their ends, also where the first target is not there."""
    async with _echo() as server, _forwarder(_NOBODY, server) as port:
        text = b"x" * 1_000_000
        assert await _said(port, text) == b"heard " + text


async def test_nobody_behind_it_is_a_closed_connection_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Clients try again, as with any server that is away."""
    async with _forwarder(_NOBODY) as port:
        with caplog.at_level(logging.WARNING):
            assert await _said(port, b"anybody?") == b""
    assert "cannot be reached at 127.0.0.1:1" in caplog.text


async def test_closing_ends_those_who_wait() -> None:
    """A connection that says nothing keeps nobody from stopping."""
    async with _echo() as server:
        async with _forwarder(server) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.closing(writer), contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
