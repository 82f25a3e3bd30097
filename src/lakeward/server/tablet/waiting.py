"""Fetches that wait for rows, woken by the append.

Apache Fluss lets such a fetch sleep its full time. Here the append wakes it in the same turn of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from lakeward.model.bucket import TableBucket


class Waiter(Protocol):
    """Something that waits for rows in some buckets."""

    buckets: tuple[TableBucket, ...]

    def try_complete(self, *, time_is_up: bool) -> bool:
        """Answer if there is enough to answer with, or no time left; True when answered."""


class Waiters:
    """Who waits for which bucket."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._by_bucket: dict[TableBucket, set[Waiter]] = {}
        self._timers: dict[Waiter, asyncio.TimerHandle] = {}
        self._touched: set[TableBucket] = set()

    def __len__(self) -> int:
        return len(self._timers)

    def park(self, waiter: Waiter, wait_s: float) -> None:
        """Let a waiter wait for rows, at most so long."""
        for bucket in waiter.buckets:
            self._by_bucket.setdefault(bucket, set()).add(waiter)
        self._timers[waiter] = self._loop.call_later(wait_s, self._time_is_up, waiter)

    def touch(self, bucket: TableBucket) -> None:
        """Say that a bucket has changed; its waiters are woken before the loop goes to sleep again."""
        if bucket in self._by_bucket:
            if not self._touched:
                self._loop.call_soon(self._wake)
            self._touched.add(bucket)

    def forget(self, waiter: Waiter) -> None:
        """Let a waiter go without an answer."""
        timer = self._timers.pop(waiter, None)
        if timer is None:
            return
        timer.cancel()
        for bucket in waiter.buckets:
            waiters = self._by_bucket.get(bucket)
            if waiters is not None:
                waiters.discard(waiter)
                if not waiters:
                    del self._by_bucket[bucket]

    def release_all(self) -> None:
        """Answer everybody with what there is; the server stops."""
        self._complete(list(self._timers), time_is_up=True)

    def _wake(self) -> None:
        touched, self._touched = self._touched, set()
        woken = {waiter for bucket in touched for waiter in self._by_bucket.get(bucket, ())}
        self._complete(woken, time_is_up=False)

    def _time_is_up(self, waiter: Waiter) -> None:
        self._complete([waiter], time_is_up=True)

    def _complete(self, waiters: Iterable[Waiter], *, time_is_up: bool) -> None:
        for waiter in waiters:
            if waiter.try_complete(time_is_up=time_is_up):
                self.forget(waiter)
