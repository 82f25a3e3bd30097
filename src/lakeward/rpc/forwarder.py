"""Forwarder: bytes that come to one address go on to another, both ways, whatever they mean."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from lakeward.options.endpoint import Endpoint
from lakeward.rpc.listener import Listener
from lakeward.runtime.seldom import SeldomLog

_log = logging.getLogger(__name__)
_CHUNK = 256 << 10
_CONNECT_S = 5.0
_CONNECTIONS_MAX = 1000


class Forwarder:
    """Listens, and hands every connection on to the first of `targets` that takes it."""

    def __init__(self, targets: Sequence[tuple[str, int]]) -> None:
        self._targets = targets
        self._listeners: list[Listener] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._failures = SeldomLog(_log, asyncio.get_running_loop().time)

    async def listen(self, endpoint: Endpoint) -> Endpoint:
        """Take connections there; the address with the port it got."""
        listener = Listener(endpoint, endpoint)
        await listener.open(self._connection)
        self._listeners.append(listener)
        return Endpoint(endpoint.name, endpoint.host, listener.port)

    def _connection(self) -> asyncio.BaseProtocol:
        reader = asyncio.StreamReader(limit=_CHUNK)
        return asyncio.StreamReaderProtocol(reader, self._take)

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= _CONNECTIONS_MAX:
            self._failures.warn(f"refused a connection: {_CONNECTIONS_MAX} are open")
            writer.close()
            return
        task = asyncio.ensure_future(self._hand_on(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            there = await self._connect()
            if there is None:
                return
            with contextlib.closing(there[1]):
                ways = [asyncio.ensure_future(_pump(reader, there[1])), asyncio.ensure_future(_pump(there[0], writer))]
                try:
                    await asyncio.wait(ways)
                finally:
                    for way in ways:
                        way.cancel()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        wrongs = []
        for host, port in self._targets:
            try:
                return await asyncio.wait_for(asyncio.open_connection(host, port, limit=_CHUNK), _CONNECT_S)
            except (OSError, TimeoutError) as wrong:
                wrongs.append(f"{host}:{port} ({wrong or 'no answer'})")
        self._failures.warn(f"a connection was closed, because the server cannot be reached at {', '.join(wrongs)}")
        return None

    async def close(self) -> None:
        """Take no more, and end those that are here."""
        for listener in self._listeners:
            listener.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes until their end, which is passed on; so is whatever breaks."""
    try:
        while piece := await reader.read(_CHUNK):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
