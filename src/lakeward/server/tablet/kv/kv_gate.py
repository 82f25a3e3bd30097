"""The gate in front of state: a request is let in when the states of its buckets are open and nobody works on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from lakeward.model.bucket import TableBucket
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import Before, States

#: What touches all of this many rows takes about ten milliseconds, and is done beside the loop.
LARGE_ROWS = 50_000


class StateRequest(Protocol):
    """A request that has been read: it knows which states it is about."""

    @property
    def buckets(self) -> Sequence[TableBucket]:
        """The buckets it names."""
        ...


_A = TypeVar("_A", bound=StateRequest)
_R = TypeVar("_R")


class KvGate:
    """Decides when a request is answered."""

    def __init__(self, states: States, busy: BusyBuckets) -> None:
        self._states = states
        self._busy = busy

    def guard(
        self, read: Callable[[_R], _A], answer: Callable[[_A, Exchange], Any], before: Before | None = None
    ) -> Handler:
        """A handler that reads a request, waits for its buckets and answers; `before` is long work to be done first."""
        busy = self._busy

        def handle(request: _R, exchange: Exchange) -> Any:
            asked = read(request)
            buckets = asked.buckets
            if not busy.holds(buckets, exchange):
                for bucket in buckets:
                    self._states.prepare(bucket, before)
                if not busy.holds(buckets, exchange):
                    return answer(asked, exchange)
            busy.park(buckets, handle, request, exchange)
            return None

        return handle
