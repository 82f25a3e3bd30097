"""A network between servers of one machine that can be cut: a proxy in front of each, which knows who has called.

A link has a direction: `cut("tablet-0", "tablet-1")` keeps what the first sends to the second, whoever of the two has
opened the connection, until the link is mended; then it arrives late, as what TCP repeats does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

_CHUNK_BYTES = 64 << 10
#: Whoever is none of the servers.
OTHERS = "others"


class FaultyLinks:
    """Proxies by the name of the server behind; runs on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._fronts: dict[str, tuple[asyncio.Server, int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._cut: set[tuple[str, str]] = set()
        self._delays_s: dict[tuple[str, str], float] = {}
        self._mended = asyncio.Event()
        #: The names of processes, by number.
        self.names: Callable[[], Mapping[int, str]] = dict
        self.met: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def front(self, name: str, port: int) -> int:
        """The port by which others reach a server that listens, or will, on its own."""
        if name not in self._fronts:
            self._fronts[name] = self._call(self._listen(name, port))
        return self._fronts[name][1]

    # -- faults

    def cut(self, sender: str, receiver: str) -> None:
        """What one sends does not reach the other."""
        self._loop.call_soon_threadsafe(self._cut.add, (sender, receiver))

    def part(self, one: str, other: str) -> None:
        """Neither hears the other."""
        self.cut(one, other)
        self.cut(other, one)

    def delay(self, sender: str, receiver: str, delay_s: float) -> None:
        """What one sends reaches the other late."""
        self._loop.call_soon_threadsafe(self._delays_s.__setitem__, (sender, receiver), delay_s)

    def mend(self) -> None:
        """All is well again, and what was kept arrives."""
        self._loop.call_soon_threadsafe(self._mend)

    def _mend(self) -> None:
        self._cut.clear()
        self._delays_s.clear()
        self._mended.set()
        self._mended = asyncio.Event()

    # -- connections

    async def _listen(self, name: str, port: int) -> tuple[asyncio.Server, int]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await self._carry(name, port, reader, writer)
            except (OSError, asyncio.CancelledError):
                pass
            finally:
                writer.transport.abort()
                self._tasks.discard(task)

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        return server, server.sockets[0].getsockname()[1]

    async def _carry(self, name: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller = _caller(writer.get_extra_info("peername")[1], self.names())
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        ways = [
            asyncio.ensure_future(self._pass_on((caller, name), reader, there_writer)),
            asyncio.ensure_future(self._pass_on((name, caller), there_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            there_writer.transport.abort()

    async def _pass_on(self, link: tuple[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            self.met.add(link)
            await asyncio.sleep(self._delays_s.get(link, 0))
            while link in self._cut:
                await self._mended.wait()
            writer.write(data)
            await writer.drain()
        while link in self._cut:  # nor is an end heard of
            await self._mended.wait()

    async def _stop(self) -> None:
        for server, _ in self._fronts.values():
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _caller(port: int, names: Mapping[int, str]) -> str:
    """Which process has called from a port."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(port)}
    for pid, name in names.items():
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if str(Path(entry.path).readlink()) in wanted:
                        return name
    return OTHERS


def _inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with Path(table).open() as lines:
            for line in lines:
                fields = line.split()
                if fields[1].endswith(f":{port:04X}"):
                    yield fields[9]
