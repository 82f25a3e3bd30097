"""The gate in front of state: who is let in at once, who waits, and for what."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PrefixLookupRequest
from lakeward.server.tablet.kv.kv_gate import KvGate
from lakeward.server.tablet.state.busy import BusyBuckets

BUCKET = TableBucket(1, None, 0)
REQUEST = PrefixLookupRequest(table_id=1, buckets_req=())


class Asked(NamedTuple):
    """A request for one bucket."""

    buckets: tuple[TableBucket, ...]


class Exchange:
    """Keeps the answer."""

    def __init__(self) -> None:
        self.answer: Any = None
        self.is_done = asyncio.Event()

    def settle(self, ask: Any, *what: Any) -> None:
        """The request that waited has its turn."""
        self.answer = ask(*what)
        self.is_done.set()


class States:
    """States of which one may have work to do first."""

    def __init__(self, busy: BusyBuckets, work: asyncio.Event | None = None) -> None:
        self._busy, self._work = busy, work

    def prepare(self, bucket: TableBucket, _: Any) -> None:
        """Begin the work, once."""
        if self._work is not None:
            work, self._work = self._work, None
            self._busy.begin(bucket, _wait(work))


async def _wait(work: asyncio.Event) -> None:
    await work.wait()


def handler(busy: BusyBuckets, states: States) -> Any:
    """A handler behind the gate."""
    gate = KvGate(states, busy)  # type: ignore[arg-type]
    return gate.guard(lambda _: Asked((BUCKET,)), lambda asked, _: f"answered for {len(asked.buckets)}")


async def test_a_free_bucket_lets_requests_in() -> None:
    """At once, in the same call."""
    with ThreadPoolExecutor(1) as threads:
        busy = BusyBuckets(asyncio.get_running_loop(), threads)
        assert handler(busy, States(busy))(REQUEST, Exchange()) == "answered for 1"


async def test_work_that_must_be_done_first_is_waited_for() -> None:
    """The request is parked, read again when the bucket is free, and answered then; others behind it as well."""
    with ThreadPoolExecutor(1) as threads:
        busy = BusyBuckets(asyncio.get_running_loop(), threads)
        work = asyncio.Event()
        handle = handler(busy, States(busy, work))
        first, second = Exchange(), Exchange()
        assert handle(REQUEST, first) is None
        assert handle(REQUEST, second) is None
        work.set()
        await second.is_done.wait()
        assert first.answer == second.answer == "answered for 1"
