"""One TCP connection to a server on which whoever asks waits for the answer: no event loop, no other thread."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from lakeward.errors import CorruptError, ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode_parts
from lakeward.protocol.frames import (
    ERROR,
    LENGTH_BYTES,
    RESPONSE_HEADER,
    SUCCESS,
    request_frame,
)
from lakeward.protocol.messages.auth import AuthenticateRequest
from lakeward.protocol.messages.metadata import ApiVersionsRequest
from lakeward.protocol.messages.shared import ErrorResponse
from lakeward.rpc.channel import CLIENT_NAME
from lakeward.rpc.client_security import ClientSecurity
from lakeward.runtime.version import VERSION

#: Answers that are waited for here are small; a larger one is put together from pieces of this size.
_READ_BYTES = 64 * 1024
_ANSWER_BYTES_MAX = 64 << 20
_REQUEST_ID_MASK = 0x7FFF_FFFF


class DirectChannel:
    """A connection for one thread at a time. After any trouble with it, it is closed."""

    def __init__(self, host: str, port: int, peer: socket.socket) -> None:
        self.address = f"{host}:{port}"
        self._peer = peer
        self._heard: select.poll | None = None
        if type(peer) is socket.socket:  # where it is encrypted, what can be read may be no answer, and no end either
            self._heard = select.poll()
            self._heard.register(peer, select.POLLIN)
        self._next_id = 0
        self._silences = 0
        self._silences_max = 0
        self._is_given_up: Callable[[], bool] | None = None
        self._versions: dict[int, int] = {Api.API_VERSIONS.value: 0}
        self.closed = False

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        security: ClientSecurity,
        executor: Executor,
        *,
        connect_timeout_ms: float,
        timeout_ms: float,
        silence_ms: float,
        is_given_up: Callable[[], bool],
    ) -> DirectChannel:
        """Connect, negotiate versions and log in, all of it on a thread; NETWORK or AUTHENTICATE if that fails.

        An answer is waited for until `timeout_ms`, or until it has been silent for so long that `is_given_up` is asked,
        and that says so.
        """
        loop = asyncio.get_running_loop()

        def connect() -> DirectChannel:
            peer = socket.create_connection((host, port), connect_timeout_ms / 1000)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if security.tls is not None:
                peer = security.tls.context().wrap_socket(peer, server_hostname=host)
            return cls(host, port, peer)

        try:
            channel = await loop.run_in_executor(executor, connect)
        except OSError as wrong:
            raise ErrorCode.NETWORK.error(f"Cannot connect to {host}:{port}: {wrong}.") from wrong

        async def say(token: bytes) -> bytes | None:
            asked = AuthenticateRequest(protocol=security.login.mechanism if security.login else "", token=token)
            told = await loop.run_in_executor(executor, channel.ask, Api.AUTHENTICATE, asked)
            challenge: bytes | None = told.challenge
            return challenge

        try:
            await loop.run_in_executor(executor, channel._negotiate)
            if security.login is not None:
                await security.login.prove(say)
        except BaseException:
            channel.close()
            raise
        channel._peer.settimeout(silence_ms / 1000)
        channel._silences_max = int(timeout_ms / silence_ms)
        channel._is_given_up = is_given_up
        return channel

    def _negotiate(self) -> None:
        hello = ApiVersionsRequest(client_software_name=CLIENT_NAME, client_software_version=VERSION)
        for offered in self.ask(Api.API_VERSIONS, hello).api_versions:
            api = Api.of_key(offered.api_key)
            if api is not None and offered.min_version <= api.version_max:
                self._versions[offered.api_key] = min(api.version_max, offered.max_version)

    def version(self, api: Api) -> int:
        """The version that is spoken for an API; UNSUPPORTED_VERSION when the server does not offer it."""
        version = self._versions.get(api.value)
        if version is None:
            raise ErrorCode.UNSUPPORTED_VERSION.error(f"The server at {self.address} does not support {api.name}.")
        return version

    @property
    def is_stale(self) -> bool:
        """Whether the server has hung up meanwhile, as far as can be told without a question."""
        return self.closed or bool(self._heard is not None and self._heard.poll(0))

    def ask(self, api: Api, message: Any) -> Any:
        """The answer to a request, or the error that the server tells.

        If the channel is closed after an error, nobody knows whether the server has done what it was asked.
        """
        request_id = self._next_id
        self._next_id = (request_id + 1) & _REQUEST_ID_MASK
        frame = b"".join(request_frame(api.value, self.version(api), request_id, encode_parts(message)))
        self._silences = 0
        try:
            self._peer.sendall(frame)
            answer = self._receive()
        except OSError as wrong:  # a time-out is one, too
            self.close()
            why = str(wrong) or type(wrong).__name__
            raise ErrorCode.NETWORK.error(f"{self.address} did not answer {api.name}: {why}.") from wrong
        except BaseException:  # Ctrl-C: an answer is on its way that nobody waits for
            self.close()
            raise
        try:
            kind, told = self._read(api, request_id, answer)
        except CorruptError as wrong:
            self.close()
            raise ErrorCode.NETWORK.error(f"{self.address} gave no answer to {api.name}: {wrong.message}") from wrong
        if kind == ERROR:
            raise ErrorCode.of_wire(told.error_code).error(told.error_message)
        return told

    def _read(self, api: Api, request_id: int, answer: bytes) -> tuple[int, Any]:
        _, kind, answered_id = RESPONSE_HEADER.unpack_from(answer)
        if kind not in (SUCCESS, ERROR) or answered_id != request_id:
            raise ErrorCode.CORRUPT_MESSAGE.error("what came instead cannot be understood.")
        return kind, decode(
            ErrorResponse if kind == ERROR else api.response, memoryview(answer)[RESPONSE_HEADER.size :]
        )

    def _receive(self) -> bytes:
        answer = self._more(_READ_BYTES)
        while len(answer) < RESPONSE_HEADER.size:
            answer += self._more(_READ_BYTES)
        size = LENGTH_BYTES + int.from_bytes(answer[:LENGTH_BYTES], "big")
        if len(answer) == size:
            return answer
        if not len(answer) < size <= _ANSWER_BYTES_MAX:
            raise ConnectionAbortedError(f"a frame of {size} bytes came where a small answer was awaited")
        pieces, missing = [answer], size - len(answer)
        while missing:
            pieces.append(self._more(min(missing, _READ_BYTES)))
            missing -= len(pieces[-1])
        return b"".join(pieces)

    def _more(self, size: int) -> bytes:
        while True:
            try:
                got = self._peer.recv(size)
            except TimeoutError:
                self._bear_silence()
            else:
                break
        if not got:
            raise ConnectionResetError("it hung up")
        return got

    def _bear_silence(self) -> None:
        """Go on waiting, or raise what ends it."""
        self._silences += 1
        if self._silences > self._silences_max:
            raise TimeoutError("it took too long")
        if self._is_given_up is not None and self._is_given_up():
            raise ConnectionAbortedError("the cluster goes on without it")

    def close(self) -> None:
        """Hang up."""
        self.closed = True
        self._peer.close()
