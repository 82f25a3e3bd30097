"""One TCP connection to a server: requests out, answers in, many in flight."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Callable
from typing import Any, cast

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import Parts, decode, encode_parts
from lakeward.protocol.frame_reader import FrameReader, FreshMemory
from lakeward.protocol.frames import ERROR, FAILURE, RESPONSE_HEADER_BYTES, RESPONSE_TYPE_BYTES, request_frame
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.protocol.messages.metadata import ApiVersionsRequest
from lakeward.protocol.messages.shared import ErrorResponse
from lakeward.rpc.client_security import OPEN, ClientSecurity
from lakeward.rpc.client_tls import refusal
from lakeward.rpc.encrypted_writes import EncryptedWrites
from lakeward.rpc.login import Login
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.version import VERSION

CLIENT_NAME = "lakeward"
REQUEST_TIMEOUT_MS = 30_000
CONNECT_TIMEOUT_MS = 10_000
#: Above this many unsent bytes `writable()` waits.
WRITE_HIGH_WATER_BYTES = 8 * 1024 * 1024
#: Who is in doubt is looked after so many times in the span that it took to doubt.
_DOUBTS = 3
_REQUEST_ID_MASK = 0x7FFF_FFFF
#: How long a server is left alone that cannot check a login just now.
_LOGIN_BACKOFF = Backoff(0.1, 5.0, SystemEntropy())
_Pending = tuple[Api, type[Any], "asyncio.Future[Any]", asyncio.TimerHandle]


class Channel(asyncio.BufferedProtocol):
    """A connection whose versions are negotiated. Requests are written in the order of `post()`."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._sealed: EncryptedWrites | None = None
        self._in = FrameReader(FreshMemory(), header_bytes=RESPONSE_TYPE_BYTES)
        self._pending: dict[int, _Pending] = {}
        self._next_id = 0
        self._versions: dict[int, int] = {Api.API_VERSIONS.value: 0}
        self._broken: LakewardError | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._endings: list[Callable[[], None]] = []
        self._silence_s = math.inf
        self._on_silence: Callable[[], None] | None = None

    @classmethod
    async def open(
        cls, host: str, port: int, *, connect_timeout_ms: float = CONNECT_TIMEOUT_MS, security: ClientSecurity = OPEN
    ) -> Channel:
        """Connect, negotiate versions and log in.

        Failing is a NETWORK error that names the address, or AUTHENTICATE where one of the two does not trust the
        other.
        """
        loop = asyncio.get_running_loop()
        context = None if security.tls is None else security.tls.context()
        try:
            async with asyncio.timeout(connect_timeout_ms / 1000):
                _, channel = await loop.create_connection(lambda: cls(host, port), host, port, ssl=context)
        except TimeoutError as late:
            raise ErrorCode.NETWORK.error(
                f"No connection to {host}:{port} within {connect_timeout_ms:g} ms; is the address right?"
            ) from late
        except ssl.SSLError as wrong:
            raise refusal(f"{host}:{port}", wrong) from wrong
        except OSError as wrong:
            why = str(wrong) or ("it hung up" if context is None else "it hung up when TLS began")
            raise ErrorCode.NETWORK.error(f"Cannot connect to {host}:{port}: {why}. Is the server running?") from wrong
        try:
            await channel._greet(connect_timeout_ms, is_encrypted=context is not None)
            if security.login is not None:
                await channel._log_in(security.login, connect_timeout_ms)
        except BaseException:
            channel.close()
            raise
        return channel

    @classmethod
    async def over(cls, there: socket.socket, name: str) -> Channel:
        """A channel over a connection that is there already, to somebody whom errors call by that name."""
        loop = asyncio.get_running_loop()
        _, channel = await loop.create_unix_connection(lambda: cls(name, 0), sock=there)
        await channel._negotiate(CONNECT_TIMEOUT_MS)
        return channel

    async def _greet(self, timeout_ms: float, *, is_encrypted: bool) -> None:
        try:
            await self._negotiate(timeout_ms)
        except LakewardError as wrong:
            if is_encrypted or wrong.code is not ErrorCode.NETWORK:
                raise
            # What a server makes of plain text where it encrypts.
            raise wrong.code.error(f"{wrong.message} It may expect TLS; see 'client.security.protocol'.") from wrong

    async def _negotiate(self, timeout_ms: float) -> None:
        hello = ApiVersionsRequest(client_software_name=CLIENT_NAME, client_software_version=VERSION)
        answer = await self.post(Api.API_VERSIONS, hello, timeout_ms=timeout_ms)
        for offered in answer.api_versions:
            api = Api.of_key(offered.api_key)
            if api is not None and offered.min_version <= api.version_max:
                self._versions[offered.api_key] = min(api.version_max, offered.max_version)

    async def _log_in(self, login: Login, timeout_ms: float) -> None:
        """Show who we are; again after a while, where the server says that it cannot tell just now."""

        async def say(token: bytes) -> bytes | None:
            asked = AuthenticateRequest(protocol=login.mechanism, token=token)
            challenge: bytes | None = (await self.post(Api.AUTHENTICATE, asked, timeout_ms=timeout_ms)).challenge
            return challenge

        give_up_s, failures = self._loop.time() + timeout_ms / 1000, 0
        while True:
            try:
                return await login.prove(say)
            except LakewardError as wrong:
                if wrong.code is not ErrorCode.RETRIABLE_AUTHENTICATE or self._loop.time() > give_up_s:
                    raise self._not_let_in(login, wrong) from wrong
            failures += 1
            await asyncio.sleep(_LOGIN_BACKOFF.pause_s(failures))

    def _not_let_in(self, login: Login, wrong: LakewardError) -> LakewardError:
        if wrong.code is ErrorCode.UNSUPPORTED_VERSION:
            return ErrorCode.AUTHENTICATE.error(
                f"The server at {self.address} cannot ask who somebody is: '{login.user}' cannot log in there."
            )
        if wrong.code not in (ErrorCode.AUTHENTICATE, ErrorCode.RETRIABLE_AUTHENTICATE):
            return wrong
        return wrong.code.error(f"{self.address} did not let '{login.user}' in by {login.mechanism}: {wrong.message}")

    @property
    def closed(self) -> bool:
        """Whether the connection is gone; a closed channel stays closed."""
        return self._broken is not None

    @property
    def address(self) -> str:
        """host:port, or the name of somebody who has no port."""
        return f"{self.host}:{self.port}" if self.port else self.host

    def supports(self, api: Api) -> bool:
        """Whether the server offers an API."""
        return api.value in self._versions

    def version(self, api: Api) -> int:
        """The version that is spoken for an API; UNSUPPORTED_VERSION when the server does not offer it."""
        version = self._versions.get(api.value)
        if version is None:
            raise ErrorCode.UNSUPPORTED_VERSION.error(f"The server at {self.address} does not support {api.name}.")
        return version

    async def request(
        self, api: Api, message: Any, *, timeout_ms: float = REQUEST_TIMEOUT_MS, answer: type[Any] | None = None
    ) -> Any:
        """Send a request when there is room, and wait for its answer."""
        if not self._room.is_set():
            await self._room.wait()
        return await self.post(api, message, timeout_ms=timeout_ms, answer=answer)

    def post(
        self, api: Api, message: Any, *, timeout_ms: float = REQUEST_TIMEOUT_MS, answer: type[Any] | None = None
    ) -> asyncio.Future[Any]:
        """Write a request now; the future holds the decoded answer or the error.

        `answer` is the class to decode the answer as, where that is not the API's own.
        """
        if self._broken is not None:
            raise _again(self._broken)
        assert self._transport is not None
        parts = encode_parts(message)
        version = self.version(api)
        request_id = self._next_id
        self._next_id = (request_id + 1) & _REQUEST_ID_MASK
        future: asyncio.Future[Any] = self._loop.create_future()
        timer = self._timer(request_id, timeout_ms, timeout_ms / 1000, self._silence_s)
        self._pending[request_id] = (api, answer or api.response, future, timer)
        self._write(request_frame(api.value, version, request_id, parts))
        return future

    def _write(self, parts: Parts) -> None:
        assert self._transport is not None
        if self._sealed is None:
            self._transport.writelines(parts)
        else:
            self._sealed.add(parts)
            self._tell_room(self._sealed)

    def _tell_room(self, sealed: EncryptedWrites) -> None:
        if sealed.size > WRITE_HIGH_WATER_BYTES:
            self._room.clear()
        elif sealed.size <= WRITE_HIGH_WATER_BYTES // 4:
            self._room.set()

    async def writable(self) -> None:
        """Wait until most of what was written has left for the server."""
        await self._room.wait()

    def on_break(self, act: Callable[[], None]) -> None:
        """Have something done when the connection is gone, whoever ended it."""
        if self._broken is None:
            self._endings.append(act)
        else:
            act()

    def on_silence(self, silence_s: float, act: Callable[[], None]) -> None:
        """Have something done when a request has had no answer for so long, and then often while it has none."""
        self._silence_s, self._on_silence = silence_s, act

    def close(self, why: str | None = None) -> None:
        """Close the connection; whatever is in flight fails with NETWORK."""
        self._break(ErrorCode.NETWORK.error(why or f"The connection to {self.address} was closed."))

    # -- called by the event loop -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transports share no base with asyncio's
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_WATER_BYTES)
        self._sealed = EncryptedWrites.of(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what is in flight."""
        why = f": {exc}" if exc else " by the server"
        self._break(ErrorCode.NETWORK.error(f"The connection to {self.address} was closed{why}."))

    def pause_writing(self) -> None:
        """Too much is unsent."""
        if self._sealed is None:
            self._room.clear()
        else:
            self._sealed.hold()

    def resume_writing(self) -> None:
        """Enough has left."""
        if self._sealed is None:
            self._room.set()
        else:
            self._sealed.release()
            self._tell_room(self._sealed)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the signature is asyncio's
        """Where the next bytes belong."""
        return self._in.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Deliver the answers that are whole now."""
        try:
            if self._in.fill(nbytes):
                for frame in self._in.kept_frames():
                    self._deliver(frame)
        except LakewardError as wrong:
            self._break(wrong)

    def eof_received(self) -> bool:
        """The server has no more to say: close."""
        return False

    # -- answers ------------------------------------------------------------------------------------------------------

    def _deliver(self, frame: bytes | memoryview) -> None:
        kind = frame[0]
        if kind == FAILURE:
            self._break(_error_in(memoryview(frame)[RESPONSE_TYPE_BYTES:]))
            return
        pending = self._pending.pop(int.from_bytes(frame[RESPONSE_TYPE_BYTES:RESPONSE_HEADER_BYTES], "big"), None)
        if pending is None:
            return
        _, answer, future, timer = pending
        timer.cancel()
        if future.done():
            return
        body = memoryview(frame)[RESPONSE_HEADER_BYTES:]
        if kind == ERROR:
            future.set_exception(_error_in(body))
            return
        try:
            future.set_result(decode(answer, body))
        except LakewardError as wrong:
            future.set_exception(wrong)

    def _timer(self, request_id: int, timeout_ms: float, left_s: float, silence_s: float) -> asyncio.TimerHandle:
        """What happens next to a request that gets no answer."""
        if left_s <= silence_s:
            return self._loop.call_later(left_s, self._expire, request_id, timeout_ms)
        return self._loop.call_later(silence_s, self._wonder, request_id, timeout_ms, left_s - silence_s)

    def _wonder(self, request_id: int, timeout_ms: float, left_s: float) -> None:
        api, answer, future, _ = self._pending[request_id]
        timer = self._timer(request_id, timeout_ms, left_s, self._silence_s / _DOUBTS)
        self._pending[request_id] = (api, answer, future, timer)
        if self._on_silence is not None and not future.done():
            self._on_silence()

    def _expire(self, request_id: int, timeout_ms: float) -> None:
        api, _, future, _ = self._pending.pop(request_id)
        wrong = ErrorCode.REQUEST_TIME_OUT.error(
            f"{self.address} did not answer {api.name} within {timeout_ms:g} ms; the connection was closed."
        )
        if not future.done():
            future.set_exception(wrong)
        self._break(wrong)  # a server that forgets one answer is not waited for again

    def _break(self, why: LakewardError) -> None:
        if self._broken is not None:
            return
        self._broken = why
        self._room.set()
        if self._transport is not None:
            self._transport.abort()
        pending, self._pending = self._pending, {}
        for _, _, future, timer in pending.values():
            timer.cancel()
            if not future.done():
                future.set_exception(_again(why))
        for act in self._endings:
            act()


def _again(error: LakewardError) -> LakewardError:
    """A fresh copy, because an exception that is raised twice collects both tracebacks."""
    return error.code.error(error.message)


def _error_in(body: memoryview) -> LakewardError:
    try:
        wrong: ErrorResponse = decode(ErrorResponse, body)
    except LakewardError as unreadable:
        return unreadable
    return ErrorCode.of_wire(wrong.error_code).error(wrong.error_message)
