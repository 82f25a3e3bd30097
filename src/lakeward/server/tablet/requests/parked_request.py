"""A request that is kept until it can be answered."""

from __future__ import annotations

from typing import Any

from lakeward.protocol.codec import decode, encode
from lakeward.rpc.dispatch import Exchange, Handler


class ParkedRequest:
    """A request with memory of its own: the one it came in may point into a buffer that is used again."""

    __slots__ = ("_exchange", "_handler", "_request", "size")

    def __init__(self, handler: Handler, request: Any, exchange: Exchange) -> None:
        data = encode(request)
        self.size = len(data)
        self._handler = handler
        self._request = decode(type(request), memoryview(bytearray(data)))
        self._exchange = exchange

    def answer(self) -> None:
        """Answer it now, or let its handler keep it for even longer."""
        self._exchange.settle(self._handler, self._request, self._exchange)
