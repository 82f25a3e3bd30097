"""A request that is kept until it can be answered."""

from __future__ import annotations

import logging
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.codec import decode, encode
from lakeward.rpc.dispatch import Exchange, Handler

_log = logging.getLogger(__name__)


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
        exchange = self._exchange
        try:
            message = self._handler(self._request, exchange)
            if message is not None:
                exchange.reply(message)
        except LakewardError as wrong:
            exchange.fail(wrong)
        except Exception:  # noqa: BLE001 - the seam: a bug in one handler must not leave its client waiting
            _log.exception("%s failed", exchange.api.name)
            if not exchange.is_done:
                exchange.fail(ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server failed on {exchange.api.name}."))
