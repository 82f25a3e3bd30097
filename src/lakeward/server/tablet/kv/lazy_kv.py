"""LazyKv: the service of primary key tables, loaded when the first of them appears.

Its kernels cost a hundred megabytes, which a server of log tables is spared, and half a second to load; on a machine
that has never run them they are compiled first, for about ten seconds. That happens on a thread, and requests for
primary keys wait for it in order. Everybody else is served meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages.packed_kv import PackedLookupRequest
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.runtime.process.settled_heap import settle_heap
from lakeward.server.tablet.requests.parked_request import ParkedRequest

_log = logging.getLogger(__name__)

#: Keys of a lookup are cut out by compiled loops, so its buckets are left as bytes.
KV_REQUEST_TYPES = {Api.LOOKUP: PackedLookupRequest}
#: Those that nobody but primary key tables has.
KV_APIS = (Api.PUT_KV, Api.LOOKUP, Api.PREFIX_LOOKUP, Api.SCAN_KV)
_WAITING_BYTES_MAX = 256 << 20


class LazyKv:
    """The handlers of the service, once they are there, and who waits for them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[], Mapping[Api, Handler]]) -> None:
        """`make` loads the service, on a thread of its own; nothing of it is shared until it is done."""
        self._loop = loop
        self._make = make
        self._handlers: Mapping[Api, Handler] | None = None
        self._loading: asyncio.Future[Mapping[Api, Handler]] | None = None
        self._waiting: list[ParkedRequest] = []
        self._waiting_bytes = 0

    def load(self) -> None:
        """Begin to load the service, if nobody has."""
        if self._handlers is None and self._loading is None:
            self._loading = asyncio.ensure_future(self._loop.run_in_executor(None, self._make), loop=self._loop)
            self._loading.add_done_callback(self._take_in)

    def handle(self, request: Any, exchange: Exchange) -> Any:
        """Answer a request now, or when the service is there; None means later."""
        if self._handlers is not None:
            return self._handlers[exchange.api](request, exchange)
        self.load()
        parked = ParkedRequest(self._handle_late, request, exchange)
        if self._waiting_bytes + parked.size > _WAITING_BYTES_MAX:
            raise ErrorCode.STORAGE_BACKPRESSURE.error("Primary key tables are being loaded; try again in a moment.")
        self._waiting_bytes += parked.size
        self._waiting.append(parked)
        return None

    def _take_in(self, loading: asyncio.Future[Mapping[Api, Handler]]) -> None:
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._loading = None
        if loading.cancelled():
            return
        wrong = loading.exception()
        if wrong is None:
            self._handlers = loading.result()
            settle_heap()
        else:
            _log.error("primary key tables could not be loaded", exc_info=wrong)
        for parked in waiting:
            parked.answer()

    def _handle_late(self, request: Any, exchange: Exchange) -> Any:
        if self._handlers is None:
            raise ErrorCode.KV_STORAGE.error("Primary key tables could not be loaded; the server's log says why.")
        return self._handlers[exchange.api](request, exchange)
