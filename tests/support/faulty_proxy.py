"""A proxy in front of an HTTP server, such as S3, that does what networks and stores do on bad days."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

_CHUNK_BYTES = 64 << 10
_BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"


class Request(NamedTuple):
    """The head of a request."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def is_part(self) -> bool:
        """Whether it uploads a part of a large file."""
        return self.method == "PUT" and "partNumber=" in self.path

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        return self.method in {"PUT", "POST", "DELETE"}


@dataclass
class Faults:
    """What goes wrong, for requests that `matches`; change it at any time. As made, nothing does."""

    matches: Callable[[Request], bool] = lambda _: True
    busy_share: float = 0.0  # … of the requests are answered with 503
    is_denied: bool = False  # … all with 403
    stall_s: float = 0.0  # … are answered only after this time
    bytes_per_second: int | None = None  # … and their bodies go no faster than this
    loses_answer: bool = False  # … are carried out, and the answer is lost
    cut_after_bytes: int | None = None  # … lose their connection when so much of the body has passed
    times: int | None = None  # … but no more than this many of them
    seen: list[Request] = field(default_factory=list)  # requests that met a fault


class FaultyProxy:
    """Listens on a free port and passes on to a server, with `faults`; runs on a thread of its own."""

    def __init__(self, target: str, seed: int = 8) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.faults = Faults()
        self.requests: list[Request] = []

    @property
    def endpoint(self) -> str:
        """The URL for clients."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self.come_back()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_away()
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def come_back(self) -> None:
        """Listen, on the port of before."""
        self._call(self._listen())

    def go_away(self) -> None:
        """Hang up on everybody; whoever comes now finds nobody listening."""
        self._call(self._hang_up())

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _stop(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._exchange(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._open.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of a connection, which is closed after it."""
        head = await reader.readuntil(b"\r\n\r\n")
        request = _parsed(head)
        self.requests.append(request)
        faults = self._met(request)
        if faults is not None:
            await asyncio.sleep(faults.stall_s)
            if faults.is_denied:
                return await _answer(reader, writer, request, "403 Forbidden", _DENIED)
            if faults.busy_share and self._random.random() < faults.busy_share:
                return await _answer(reader, writer, request, "503 Service Unavailable", _BUSY)
        if "expect" in request.headers:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        up_reader, up_writer = await asyncio.open_connection(*self._target)
        self._open.add(up_writer)
        try:
            up_writer.write(_head(request))
            size = int(request.headers.get("content-length", "0"))
            if request.headers.get("transfer-encoding") == "chunked":
                await _relay_chunks(reader, up_writer)
            elif not await _relay(reader, up_writer, size, faults):
                return writer.transport.abort()
            if faults is not None and faults.loses_answer:
                await up_reader.read(1)
                return writer.transport.abort()
            if not await _relay(up_reader, writer, None, faults):
                return writer.transport.abort()
        finally:
            self._open.discard(up_writer)
            up_writer.transport.abort()
        return None

    def _met(self, request: Request) -> Faults | None:
        faults = self.faults
        if not faults.matches(request) or (faults.times is not None and len(faults.seen) >= faults.times):
            return None
        faults.seen.append(request)
        return faults


def _parsed(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return Request(method, path, {name.strip().lower(): value.strip() for name, _, value in pairs})


def _head(request: Request) -> bytes:
    """For the server behind; what is signed stays as it is."""
    headers = {name: value for name, value in request.headers.items() if name not in {"connection", "expect"}}
    headers["connection"] = "close"
    lines = [f"{request.method} {request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int | None, faults: Faults | None
) -> bool:
    """Pass on so many bytes, or all there are; False when the connection is to be cut."""
    passed = 0
    while size is None or passed < size:
        data = await reader.read(_CHUNK_BYTES if size is None else min(_CHUNK_BYTES, size - passed))
        if not data:
            return size is None
        passed += len(data)
        if faults is not None and faults.cut_after_bytes is not None and passed > faults.cut_after_bytes:
            return False
        if faults is not None and faults.bytes_per_second is not None:
            await asyncio.sleep(len(data) / faults.bytes_per_second)
        writer.write(data)
        await writer.drain()
    return True


async def _relay_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on a body that comes in chunks, as pyarrow sends it, and what is said of it at its end."""
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        writer.write(line + (await reader.readexactly(size + 2) if size else b""))
        await writer.drain()
    while line != b"\r\n":
        line = await reader.readuntil(b"\r\n")
        writer.write(line)
    await writer.drain()


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, status: str, body: bytes
) -> None:
    if "expect" not in request.headers:  # whoever expects to be told to go on has not sent it
        await reader.readexactly(int(request.headers.get("content-length", "0")))
    lines = [f"HTTP/1.1 {status}", "content-type: application/xml", f"content-length: {len(body)}", "connection: close"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if request.method == "HEAD" else body))
    await writer.drain()
