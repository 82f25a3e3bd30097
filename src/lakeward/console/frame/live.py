"""EventStream: live data by Server-Sent Events. It ends with the browser, and with the console."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lakeward.console.frame.house import House
from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords

_STREAMS_MAX = 64
_BUSY = 503


class EventStream(Response):
    """Sends one event for each document; an error is an event `failure` with a sentence, and the last one."""

    media_type = "text/event-stream"

    def __init__(self, house: House, events: AsyncIterator[Any]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._house = house
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until one of them has had enough."""
        if self._house.streams >= _STREAMS_MAX:
            await Response("Too many pages listen; close some.", _BUSY)(scope, receive, send)
            return
        self._house.streams += 1
        sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_wait_for_leave(receive))
        closing = asyncio.ensure_future(self._house.closing.wait())
        try:
            await asyncio.wait({sending, leaving, closing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._house.streams -= 1
            for task in (sending, leaving, closing):
                task.cancel()
            for task in (sending, leaving, closing):
                with suppress(asyncio.CancelledError, OSError):
                    await task
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await _send_event(send, ": hello\n\n")
        try:
            async with aclosing(self._events) as events:  # type: ignore[type-var]
                async for document in events:
                    await _send_event(send, f"data: {json.dumps(document)}\n\n")
        except LakewardError as wrong:
            told = json.dumps({"message": without_passwords(wrong.message)})
            await _send_event(send, f"event: failure\ndata: {told}\n\n")


async def _send_event(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def _wait_for_leave(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
