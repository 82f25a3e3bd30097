"""Opening: requests that come before a server knows what there is wait until it does."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from types import GeneratorType
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.rpc.dispatch import Exchange, Handler

#: Clients wait longer for an answer, and ask again after an error that passes.
_WAIT_S = 10.0


class Opening:
    """Shut at first, then open for good."""

    def __init__(self, refusal: str) -> None:
        """`refusal` is what those are told who have waited in vain."""
        self._refusal = refusal
        self._is_open = False
        self._waiting: set[asyncio.Future[None]] = set()

    def open(self) -> None:
        """It is known what there is."""
        self._is_open = True
        for one in self._waiting:
            if not one.done():
                one.set_result(None)

    def behind(self, handler: Handler) -> Handler:
        """The same handler, asked as soon as this is open."""

        def handle(request: Any, exchange: Exchange) -> Any:
            return handler(request, exchange) if self._is_open else self._later(handler, request, exchange)

        return handle

    def _later(self, handler: Handler, request: Any, exchange: Exchange) -> Generator[Any, None, Any]:
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(opened)
        try:
            yield asyncio.ensure_future(asyncio.wait([opened], timeout=_WAIT_S))
        finally:
            self._waiting.discard(opened)
        if not self._is_open:
            # Not that anything does not exist: clients believe that, and give up.
            raise ErrorCode.LEADER_NOT_AVAILABLE.error(self._refusal)
        exchange.begin_again()
        answer = handler(request, exchange)
        if type(answer) is GeneratorType:
            answer = yield from answer
        return answer
