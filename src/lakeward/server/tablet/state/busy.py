"""Buckets whose state is worked on beside the loop.

To recover, sort or copy millions of rows takes seconds. That happens on a thread, one piece of work per bucket at a
time; whoever asks for the bucket meanwhile waits in order, everybody else is served. Compiled loops let go of the
interpreter, so that the loop goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.tablet.requests.parked_request import ParkedRequest

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_WAITING_BYTES_MAX = 256 << 20


class _Waiting(NamedTuple):
    buckets: Sequence[TableBucket]
    exchange: Exchange
    parked: ParkedRequest


class BusyBuckets:
    """What is being worked on, and who waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: Executor) -> None:
        self._loop = loop
        self._threads = threads
        self._working: dict[TableBucket, asyncio.Task[None]] = {}
        self._endings: dict[TableBucket, list[Callable[[], None]]] = {}
        self._beside: set[asyncio.Task[Any]] = set()
        self._waiting: list[_Waiting] = []
        self._wanted: Counter[TableBucket] = Counter()
        self._waiting_bytes = 0
        self._turn: Exchange | None = None
        self._release_is_due = False
        self._is_stopped = False

    def __contains__(self, bucket: TableBucket) -> bool:
        return bucket in self._working

    def holds(self, buckets: Iterable[TableBucket], exchange: Exchange) -> bool:
        """Whether one of the buckets is worked on, or somebody waits for it who came before."""
        if not self._working and not self._waiting:
            return False
        is_first = exchange is self._turn
        return any(b in self._working or (not is_first and self._wanted[b]) for b in buckets)

    def on_thread(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Work to be awaited."""
        return self._loop.run_in_executor(self._threads, work)

    def begin(self, bucket: TableBucket, work: Coroutine[Any, Any, None]) -> None:
        """Work on a bucket that nobody works on; it is nobody else's until the work has ended."""
        self._hold((bucket,), work)

    def alone(self, bucket: TableBucket, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Work on a bucket, on a thread; the result is to be awaited by whoever wants it."""
        result = self.on_thread(work)
        self.begin(bucket, _wait_for(result))
        return result

    def together(self, buckets: Iterable[TableBucket], work: Coroutine[Any, Any, _T]) -> asyncio.Future[_T]:
        """Work on buckets that nobody works on; the result is to be awaited by whoever wants it."""
        result = self._loop.create_task(work)
        self._beside.add(result)
        result.add_done_callback(self._beside.discard)
        self._hold(tuple(dict.fromkeys(buckets)), _wait_for(result))
        return result

    def _hold(self, buckets: tuple[TableBucket, ...], work: Coroutine[Any, Any, None]) -> None:
        assert not any(bucket in self._working for bucket in buckets)
        task = self._loop.create_task(self._alone(buckets, work))
        self._working.update(dict.fromkeys(buckets, task))

    async def _alone(self, buckets: tuple[TableBucket, ...], work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except LakewardError as wrong:
            _log.error("work on the state of %s failed: %s", buckets[0], wrong)
        except Exception:  # noqa: BLE001 - the requests that wait must be answered
            _log.exception("work on the state of %s failed", buckets[0])
        finally:
            for bucket in buckets:
                del self._working[bucket]
            if not self._is_stopped:  # else the thread may still be at it
                for act in [act for bucket in buckets for act in self._endings.pop(bucket, ())]:
                    act()
                self._release_soon()

    def when_free(self, bucket: TableBucket, act: Callable[[], None]) -> None:
        """Act now, or when the work on a bucket has ended and before anybody else is let in."""
        if bucket in self._working:
            self._endings.setdefault(bucket, []).append(act)
        else:
            act()

    def answer_later(self, exchange: Exchange, answer: Coroutine[Any, Any, Any]) -> None:
        """Answer a request with what a coroutine returns."""
        task = self._loop.create_task(_answer(exchange, answer))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    def park(self, buckets: Sequence[TableBucket], handler: Handler, request: Any, exchange: Exchange) -> None:
        """Have a request handled when its buckets are free."""
        one = _Waiting(buckets, exchange, ParkedRequest(handler, request, exchange))
        if self._waiting_bytes + one.parked.size > _WAITING_BYTES_MAX:
            raise ErrorCode.STORAGE_BACKPRESSURE.error(f"{buckets[0]} is being worked on; try again in a moment.")
        self._waiting_bytes += one.parked.size
        self._wanted.update(buckets)
        self._waiting.insert(0 if exchange is self._turn else len(self._waiting), one)

    def _release(self) -> None:
        """Handle the first one that waits for nothing; those behind it have their turn after other requests."""
        self._release_is_due = False
        passed: set[TableBucket] = set()
        for place, one in enumerate(self._waiting):
            if passed.isdisjoint(one.buckets) and not any(b in self._working for b in one.buckets):
                del self._waiting[place]
                self._waiting_bytes -= one.parked.size
                self._wanted -= Counter(one.buckets)
                self._turn = one.exchange
                one.parked.answer()
                self._turn = None
                self._release_soon()
                return
            passed.update(one.buckets)

    def _release_soon(self) -> None:
        if self._waiting and not self._release_is_due and not self._is_stopped:
            self._release_is_due = True
            self._loop.call_soon(self._release)

    async def stop(self) -> None:
        """Begin nothing more and wait until threads let go of all state."""
        self._is_stopped = True
        tasks = [*self._working.values(), *self._beside]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.run_in_executor(None, self._threads.shutdown)


async def _wait_for(result: asyncio.Future[Any]) -> None:
    await asyncio.wait([result])


async def _answer(exchange: Exchange, answer: Coroutine[Any, Any, Any]) -> None:
    try:
        message = await answer
        exchange.reply(message)
    except Exception as wrong:  # noqa: BLE001 - the seam: a bug must not leave the client waiting
        exchange.fail_unless_done(wrong)
