"""A tiny client on a plain socket: what goes over the wire and nothing else.

It shares the message declarations with the server but neither sockets, nor retries, nor caches, so that a test sees
exactly what a server does.
"""

from __future__ import annotations

import socket
import struct
from typing import Any, NamedTuple, Self

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.protocol.frames import ERROR, FAILURE, SUCCESS
from lakeward.protocol.messages.metadata import ApiVersionsRequest, MetadataRequest
from lakeward.protocol.messages.shared import ErrorResponse

HELLO = ApiVersionsRequest(client_software_name="test", client_software_version="1")
_TIMEOUT_S = 60


class Answer(NamedTuple):
    """One frame from the server."""

    kind: int
    request_id: int | None
    body: bytes

    @property
    def error(self) -> ErrorResponse:
        """What went wrong."""
        assert self.kind in {ERROR, FAILURE}, f"kind {self.kind}"
        return decode(ErrorResponse, self.body)


class WireClient:
    """One connection."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), _TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next_id = 0
        self._early: dict[int | None, Answer] = {}
        self._asked: dict[int, Api] = {}

    @classmethod
    def of(cls, bootstrap: str) -> WireClient:
        """A connection to an address written as host:port."""
        host, port = bootstrap.rsplit(":", 1)
        return cls(host, int(port))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    # -- frames

    def frame(self, api_key: int, version: int, body: bytes) -> tuple[int, bytes]:
        """The bytes of a request, and its id."""
        request_id, self._next_id = self._next_id, self._next_id + 1
        return request_id, struct.pack(">ihhi", 8 + len(body), api_key, version, request_id) + body

    def send_bytes(self, data: bytes) -> None:
        """Anything at all."""
        self.socket.sendall(data)

    def send(self, api: Api, message: Any, version: int = 0) -> int:
        """A request; returns its id, to be handed to `answer`."""
        request_id, data = self.frame(api.value, version, encode(message))
        self._asked[request_id] = api
        self.send_bytes(data)
        return request_id

    def send_all(self, requests: list[tuple[Api, Any]]) -> list[int]:
        """Several requests in one write."""
        frames = [(api, *self.frame(api.value, 0, encode(message))) for api, message in requests]
        self._asked |= {request_id: api for api, request_id, _ in frames}
        self.send_bytes(b"".join(data for _, _, data in frames))
        return [request_id for _, request_id, _ in frames]

    def receive(self) -> Answer:
        """The next frame, whichever request it belongs to."""
        size = int.from_bytes(self._exactly(4), "big", signed=True)
        data = self._exactly(size)
        if data[0] == FAILURE:
            return Answer(FAILURE, None, data[1:])
        return Answer(data[0], int.from_bytes(data[1:5], "big", signed=True), data[5:])

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionResetError("the server closed the connection")
            data += piece
        return bytes(data)

    def frame_of(self, request_id: int) -> Answer:
        """The frame that answers a request; others that come before it are kept for later."""
        while request_id not in self._early:
            answer = self.receive()
            assert answer.request_id not in self._early, "answered twice"
            self._early[answer.request_id] = answer
        return self._early.pop(request_id)

    def is_closed_by_server(self) -> bool:
        """Whether the server hangs up, with or without last words."""
        try:
            while self.receive().kind != FAILURE:
                pass
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    # -- messages

    def answer(self, request_id: int) -> Any:
        """The message that answers a request; an error frame is raised."""
        frame = self.frame_of(request_id)
        if frame.kind == SUCCESS:
            return decode(self._asked.pop(request_id).response, frame.body)
        error = frame.error
        raise ErrorCode.of_wire(error.error_code).error(error.error_message)

    def call(self, api: Api, message: Any, version: int = 0) -> Any:
        """Ask and wait for the answer."""
        return self.answer(self.send(api, message, version))

    def error_code(self, api: Api, message: Any, version: int = 0) -> int:
        """The code with which a request is refused; 0 when it is not."""
        frame = self.frame_of(self.send(api, message, version))
        return 0 if frame.kind == SUCCESS else frame.error.error_code


class WireCluster(NamedTuple):
    """A connection to each role; with one server they lead to the same port."""

    coordinator: WireClient
    tablet: WireClient

    @classmethod
    def of(cls, bootstrap: str) -> WireCluster:
        """Ask who plays which role, and connect to both."""
        with WireClient.of(bootstrap) as first:
            first.call(Api.API_VERSIONS, HELLO)
            metadata = first.call(Api.GET_METADATA, MetadataRequest())
        node, tablet = metadata.coordinator_server, metadata.tablet_servers[0]
        return cls(WireClient(node.host, node.port), WireClient(tablet.host, tablet.port))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.coordinator.close()
        self.tablet.close()
