"""The gate in front of state: opens buckets, does long work first, and lets requests in when their buckets are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.tablet.buckets.busy import BusyBuckets
from lakeward.server.tablet.buckets.tablets import Tablets
from lakeward.storage.kv.kv_tablet import KvTablet

#: What touches all of so many rows takes some ten milliseconds, and is done beside the loop.
LARGE_ROWS = 50_000

#: Long work that must be done before a request, if there is any.
Before = Callable[[KvTablet], Callable[[], None] | None]


class KvGate:
    """Decides whether a request is handled now."""

    def __init__(self, tablets: Tablets, busy: BusyBuckets) -> None:
        self._tablets = tablets
        self._busy = busy

    def admits(
        self,
        buckets: Sequence[TableBucket],
        handler: Handler,
        request: Any,
        exchange: Exchange,
        before: Before | None = None,
    ) -> bool:
        """Whether the request can be handled now; if not, `handler` gets it again when its buckets are free."""
        busy = self._busy
        if not busy.holds(buckets, exchange):
            for bucket in buckets:
                self._get_ready(bucket, before)
            if not busy.holds(buckets, exchange):
                return True
        busy.park(buckets, handler, request, exchange)
        return False

    def _get_ready(self, bucket: TableBucket, before: Before | None) -> None:
        if bucket in self._busy:
            return
        kv = self._tablets.open_kv(bucket)
        if kv is None:
            opening = self._tablets.opening(bucket, self._busy.on_thread)
            if opening is not None:
                self._busy.begin(bucket, opening)
        elif before is not None:
            self.do(bucket, before(kv))

    def do(self, bucket: TableBucket, work: Callable[[], None] | None) -> None:
        """Do long work on a bucket, if there is any and nobody works on it."""
        if work is not None and bucket not in self._busy:
            self._busy.begin(bucket, self._on_thread(work))

    def check_free(self, bucket: TableBucket) -> None:
        """Refuse a bucket that somebody has begun to work on since the request was let in."""
        if bucket in self._busy:
            raise ErrorCode.STORAGE_BACKPRESSURE.error(f"{bucket} is being worked on; try again in a moment.")

    def grow(self, bucket: TableBucket) -> None:
        """Do what a later put would have to do first."""
        kv = self._tablets.open_kv(bucket)
        if kv is not None:
            self.do(bucket, kv.growth())

    async def _on_thread(self, work: Callable[[], None]) -> None:
        await self._busy.on_thread(work)
