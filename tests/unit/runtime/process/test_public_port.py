"""Ports that people come to."""

from __future__ import annotations

import asyncio
import socket

import pytest

from lakeward.errors import InvalidError
from lakeward.options import client as rows
from lakeward.runtime.process.public_port import check_openness, is_loopback, listen


def test_loopback_is_known_by_name_and_by_number() -> None:
    """Everything else is a network."""
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org")))


def test_a_port_that_is_taken_is_named() -> None:
    """With what to do; so is an address that is none of this machine's."""
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidError, match=f"Port {port} of 127.0.0.1 is taken; choose another with --port"):
            listen("127.0.0.1", port)
    with pytest.raises(InvalidError, match="no address of this machine"):
        listen("no such host", 0)


def test_a_login_is_not_lent_to_a_network() -> None:
    """To this machine it is, and without one there is nothing to lend."""
    login = {rows.SASL_USERNAME.key: "root"}
    check_openness("The console", "127.0.0.1", login)
    check_openness("The console", "0.0.0.0", {})
    with pytest.raises(InvalidError, match=r"The console would act as its own user for everybody who reaches 0\.0"):
        check_openness("The console", "0.0.0.0", login)


async def test_small_answers_are_sent_at_once() -> None:
    """Whoever serves on such a port by asyncio does not hold back the second part of an answer for 40 ms."""
    found = list[int]()

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(answer, sock=listener):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        await reader.read()
        writer.close()
    assert found[0] != 0
