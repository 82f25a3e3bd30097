"""Line: orders to one tablet server, one after the other. One that does not obey is given up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.rpc.channel import Channel

_log = logging.getLogger(__name__)
#: A server that has much to open may take long; one that hangs is noticed by its pulse.
_OBEY_MS = 300_000


class Order(NamedTuple):
    """Something to be told; `make` is asked when its turn has come, so that what is told is true then."""

    api: Api
    make: Callable[[], Any]


class Line:
    """The connection to one tablet server."""

    def __init__(self, server_id: int, channel: Channel, listeners: dict[str, tuple[str, int]]) -> None:
        """`listeners` are its addresses, by the name of the listener; without a host it is on ours."""
        self.server_id = server_id
        self.listeners = listeners
        #: Whether it leads what it has to lead.
        self.is_leading = False
        self._channel = channel
        self._orders: asyncio.Queue[Order | asyncio.Future[None]] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._work())

    def take_office(self) -> None:
        """It leads what it has to lead."""
        self.is_leading = True

    def tell(self, api: Api, make: Callable[[], Any]) -> None:
        """Give an order, after those that were given before."""
        self._orders.put_nowait(Order(api, make))

    def settle(self) -> asyncio.Future[None]:
        """Done when all that was ordered up to now has been obeyed, or the server is gone."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._task.done():
            done.set_result(None)
        else:
            self._orders.put_nowait(done)
        return done

    def close(self) -> None:
        """The server is gone."""
        self._task.cancel()
        self._channel.close()
        while not self._orders.empty():
            left = self._orders.get_nowait()
            if isinstance(left, asyncio.Future) and not left.done():
                left.set_result(None)

    async def _work(self) -> None:
        while True:
            order = await self._orders.get()
            if isinstance(order, asyncio.Future):
                if not order.done():
                    order.set_result(None)
                continue
            try:
                answer = await self._channel.request(order.api, order.make(), timeout_ms=_OBEY_MS)
            except LakewardError as wrong:
                _log.warning("tablet server %d was not told %s: %s", self.server_id, order.api.name, wrong)
                continue
            self._tell_refusals(order.api, answer)

    def _tell_refusals(self, api: Api, answer: Any) -> None:
        lists = (getattr(answer, name, ()) for name in ("notify_buckets_leader_resp", "stop_replicas_resp"))
        refused = [one for answers in lists for one in answers if one.error_code]
        if refused:
            first = refused[0]
            told = "tablet server %d refused %s for %d buckets; the first, %s: %s"
            _log.warning(told, self.server_id, api.name, len(refused), first.table_bucket, first.error_message)
