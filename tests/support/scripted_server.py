"""Servers that speak the protocol by script, on real sockets; each may fall silent, as a frozen process does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Self

from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode_parts
from lakeward.protocol.frames import LENGTH_BYTES, error_frame, request_in, response_frame
from lakeward.protocol.messages.metadata import ApiVersionsResponse, PbApiVersion, PbServerNode

#: What a request is answered with; a LakewardError is told.
Script = Mapping[Api, Callable[[Any], Any]]


class ScriptedServer:
    """One server; `asked` are the requests that reached it, also those that it keeps to itself."""

    def __init__(self, number: int, script: Script) -> None:
        self.number = number
        self.port = 0
        self.asked: list[tuple[Api, Any]] = []
        self._script = script
        self._speaks = asyncio.Event()
        self._speaks.set()
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for line in self._lines:
            line.cancel()

    @property
    def node(self) -> PbServerNode:
        """How metadata name it."""
        return PbServerNode(node_id=self.number, host="127.0.0.1", port=self.port)

    def count(self, api: Api) -> int:
        """How often it was asked so."""
        return sum(asked is api for asked, _ in self.asked)

    def freeze(self) -> None:
        """Say nothing from now on; the kernel goes on taking connections and bytes."""
        self._speaks.clear()

    def thaw(self) -> None:
        """Go on, with what came meanwhile first."""
        self._speaks.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
                header, body = request_in(memoryview(await reader.readexactly(size)))
                api = Api.of_key(header.api_key)
                assert api is not None
                message = decode(api.request, body)
                self.asked.append((api, message))
                await self._speaks.wait()
                try:
                    answer = self._versions() if api is Api.API_VERSIONS else self._script[api](message)
                    frame = response_frame(header.request_id, encode_parts(answer))
                except LakewardError as wrong:
                    frame = error_frame(header.request_id, wrong.code, wrong.message)
                writer.writelines(frame)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._lines.discard(task)

    def _versions(self) -> ApiVersionsResponse:
        apis = (Api.API_VERSIONS, *self._script)
        offered = (PbApiVersion(api_key=a.value, min_version=0, max_version=a.version_max) for a in apis)
        return ApiVersionsResponse(api_versions=tuple(offered))
