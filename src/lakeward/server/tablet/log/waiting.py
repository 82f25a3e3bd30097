"""Fetches that wait for rows, woken by the append.

Apache Fluss lets such a fetch sleep its full time. Here the append wakes it in the same turn of the event loop. Where
thousands wait for one bucket, they are woken a bit at a time, and the next append does not wait for them.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Protocol

from lakeward.model.bucket import TableBucket
from lakeward.rpc.turns import SLICE_S, Turns


class Waiter(Protocol):
    """Something that waits for rows in some buckets."""

    buckets: tuple[TableBucket, ...]

    def try_complete(self, *, time_is_up: bool) -> bool:
        """Answer if there is enough to answer with, or no time left; True when answered."""


class Waiters:
    """Who waits for which bucket."""

    def __init__(self, loop: asyncio.AbstractEventLoop, turns: Turns) -> None:
        self._loop = loop
        self._turns = turns
        self._by_bucket: dict[TableBucket, dict[Waiter, None]] = {}
        self._timers: dict[Waiter, asyncio.TimerHandle] = {}
        self._touched: set[TableBucket] = set()
        #: Who is to be looked at, and whether its time is up.
        self._due: OrderedDict[Waiter, bool] = OrderedDict()
        self._is_queued = False

    def __len__(self) -> int:
        return len(self._timers)

    def park(self, waiter: Waiter, wait_s: float) -> None:
        """Let a waiter wait for rows, at most so long."""
        for bucket in waiter.buckets:
            self._by_bucket.setdefault(bucket, {})[waiter] = None
        self._timers[waiter] = self._loop.call_later(wait_s, self._time_is_up, waiter)

    def touch(self, bucket: TableBucket) -> None:
        """Say that a bucket has changed; its waiters are woken before the loop goes to sleep again."""
        if bucket in self._by_bucket:
            if not self._touched:
                self._loop.call_soon(self._wake)
            self._touched.add(bucket)

    def forget(self, waiter: Waiter) -> None:
        """Let a waiter go without an answer."""
        self._due.pop(waiter, None)
        timer = self._timers.pop(waiter, None)
        if timer is None:
            return
        timer.cancel()
        for bucket in waiter.buckets:
            waiters = self._by_bucket.get(bucket)
            if waiters is not None:
                waiters.pop(waiter, None)
                if not waiters:
                    del self._by_bucket[bucket]

    def release_all(self) -> None:
        """Answer everybody with what there is; the server stops."""
        for waiter in list(self._timers):
            self._complete(waiter, time_is_up=True)

    def _wake(self) -> None:
        touched, self._touched = self._touched, set()
        for bucket in touched:
            for waiter in self._by_bucket.get(bucket, ()):
                self._due.setdefault(waiter, False)
        self._begin()

    def _time_is_up(self, waiter: Waiter) -> None:
        self._due[waiter] = True
        self._begin()

    def _begin(self) -> None:
        """Look at those who are due, at once where they are few."""
        if self._due and not self._is_queued and self.take_turn(self._turns.now() + SLICE_S):
            self._is_queued = True
            self._turns.join(self)

    def take_turn(self, until: float) -> bool:
        """Look at some of those who are due; True when there are more."""
        while self._due:
            waiter, time_is_up = self._due.popitem(last=False)
            self._complete(waiter, time_is_up=time_is_up)
            if self._turns.now() >= until:
                break
        self._is_queued = bool(self._due) and self._is_queued
        return bool(self._due)

    def _complete(self, waiter: Waiter, *, time_is_up: bool) -> None:
        if waiter in self._timers and waiter.try_complete(time_is_up=time_is_up):
            self.forget(waiter)
