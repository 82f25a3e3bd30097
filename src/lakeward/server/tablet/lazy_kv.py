"""LazyKv: the service of primary key tables, made when the first request for one comes.

Its kernels cost a hundred megabytes and a second to load, which a server of log tables is spared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.protocol.api import Api
from lakeward.protocol.messages.packed_kv import PackedLookupRequest
from lakeward.rpc.dispatch import Exchange, Handler

if TYPE_CHECKING:
    from lakeward.server.tablet.kv_service import KvService

#: Keys of a lookup are cut out by compiled loops, so its buckets are left as bytes.
KV_REQUEST_TYPES = {Api.LOOKUP: PackedLookupRequest}
KV_APIS = (Api.PUT_KV, Api.LOOKUP, Api.PREFIX_LOOKUP, Api.SCAN_KV)


class LazyKv:
    """The service, once somebody needs it."""

    def __init__(self, make: Callable[[], KvService]) -> None:
        self._make = make
        self._service: KvService | None = None

    @property
    def service(self) -> KvService:
        """The service itself."""
        if self._service is None:
            self._service = self._make()
        return self._service

    def handler(self, api: Api) -> Handler:
        """A handler that passes on to the service."""

        def handle(request: Any, exchange: Exchange) -> Any:
            return self.service.handlers[api](request, exchange)

        return handle
