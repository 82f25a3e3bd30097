"""LazyKv: the service of primary key tables, loaded when the first of them appears.

Its kernels cost a hundred megabytes, which a server of log tables is spared, and half a second to load; on a machine
that has never run them they are compiled first, for some ten seconds. That happens on a thread, and requests for
primary keys wait for it in order. Everybody else is served meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages.packed_kv import PackedLookupRequest
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.runtime.settled_heap import settle_heap
from lakeward.server.tablet.buckets.parked import ParkedRequest

if TYPE_CHECKING:
    from lakeward.server.tablet.kv.kv_service import KvService

_log = logging.getLogger(__name__)

#: Keys of a lookup are cut out by compiled loops, so its buckets are left as bytes.
KV_REQUEST_TYPES = {Api.LOOKUP: PackedLookupRequest}
KV_APIS = (Api.PUT_KV, Api.LOOKUP, Api.PREFIX_LOOKUP, Api.SCAN_KV)
_WAITING_BYTES_MAX = 256 << 20

#: Answers a request with the service at hand.
Answer = Callable[["KvService", Any, Exchange], Any]


class LazyKv:
    """The service, once it is there, and who waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[], KvService]) -> None:
        self._loop = loop
        self._make = make
        self._service: KvService | None = None
        self._loading: asyncio.Future[KvService] | None = None
        self._waiting: list[ParkedRequest] = []
        self._waiting_bytes = 0

    def load(self) -> None:
        """Begin to load the service, if nobody has."""
        if self._service is None and self._loading is None:
            self._loading = asyncio.ensure_future(self._loop.run_in_executor(None, self._make), loop=self._loop)
            self._loading.add_done_callback(self._loaded)

    def answer(self, answer: Answer, request: Any, exchange: Exchange) -> Any:
        """Answer now, or when the service is there; None means later."""
        if self._service is not None:
            return answer(self._service, request, exchange)
        self.load()
        parked = ParkedRequest(lambda request, exchange: self._answered(answer, request, exchange), request, exchange)
        if self._waiting_bytes + parked.size > _WAITING_BYTES_MAX:
            raise ErrorCode.STORAGE_BACKPRESSURE.error("Primary key tables are being loaded; try again in a moment.")
        self._waiting_bytes += parked.size
        self._waiting.append(parked)
        return None

    def handler(self, api: Api) -> Handler:
        """A handler that passes on to the service."""

        def handle(service: KvService, request: Any, exchange: Exchange) -> Any:
            return service.handlers[api](request, exchange)

        return lambda request, exchange: self.answer(handle, request, exchange)

    def _loaded(self, loading: asyncio.Future[KvService]) -> None:
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._loading = None
        if loading.cancelled():
            return
        wrong = loading.exception()
        if wrong is None:
            self._service = loading.result()
            settle_heap()
        else:
            _log.error("primary key tables could not be loaded", exc_info=wrong)
        for parked in waiting:
            parked.answer()

    def _answered(self, answer: Answer, request: Any, exchange: Exchange) -> Any:
        if self._service is None:
            raise ErrorCode.KV_STORAGE.error("Primary key tables could not be loaded; the server's log says why.")
        return answer(self._service, request, exchange)
