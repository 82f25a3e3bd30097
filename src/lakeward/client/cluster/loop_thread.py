"""One background event loop, so that blocking code can drive the asyncio core."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, NoReturn, TypeVar

from lakeward.errors import ErrorCode

T = TypeVar("T")
_log = logging.getLogger(__name__)
#: How long work that was cancelled may take to end.
_CANCEL_S = 5.0
#: A signal that comes just before a thread begins to wait does not wake it: it has to look up now and then.
_LOOK_UP_S = 0.5


class LoopThread:
    """An event loop that runs in a daemon thread until `close()`; uvloop where it is installed."""

    def __init__(self, name: str) -> None:
        self._loop = _new_loop()
        self._process = os.getpid()
        self._closing: set[asyncio.Task[None]] = set()
        self._life = _Life(self._loop)
        self._thread = threading.Thread(target=self._life.serve, name=name, daemon=True)
        self._thread.start()

    def end_with(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """What is done on the loop before it ends by itself, once nobody is left who could use it, or close it."""
        weakref.finalize(self, _end, self._life, self._process, last).atexit = False

    @property
    def closed(self) -> bool:
        """Whether nothing can run any more."""
        return self._loop.is_closed()

    @property
    def is_copy(self) -> bool:
        """Whether this process was forked from the one that has the loop: here it has no thread, and never runs."""
        return os.getpid() != self._process

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A connection to a cluster, and what it gave, stay in their process: they cannot be pickled or copied. "
            "Hand over names instead, and connect there, with lakeward.connect()."
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result; Ctrl-C cancels it."""
        if self.is_copy:
            work.close()
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(
                f"This connection belongs to process {self._process}, from which this one was forked; connect here "
                "with lakeward.connect()."
            )
        if self.closed:
            work.close()
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(
                "The connection is closed; open a new one with lakeward.connect()."
            )
        job = _Job(self._loop, work)
        try:
            self._post(self._life.begin, job)
            while not job.has_ended(_LOOK_UP_S):
                if self._loop.is_closed():  # by another thread, before the loop came to it
                    job.forget()
        except BaseException:  # what a signal made of it; at whatever moment, what was begun is ended first
            self._post(job.cancel)
            job.has_ended(_CANCEL_S)  # what it used may be closed now
            raise
        return job.result()

    def _post(self, act: Callable[..., None], *arguments: Any) -> None:
        """Have something called on the loop, unless that was closed this very moment."""
        try:
            self._loop.call_soon_threadsafe(act, *arguments)
        except RuntimeError:
            if not self.closed:
                raise

    def let_go(self, generator: AsyncGenerator[Any, None]) -> None:
        """Close an async generator that nobody reads on.

        The garbage collector lets go of what was left half-read on whichever thread it comes up, the loop's own too,
        which cannot wait for itself: there it is begun, and ends by itself. When the interpreter ends, the loop's
        thread has stopped where it was, and waiting for it would never end.
        """
        if self.closed or self.is_copy or sys.is_finalizing():
            return
        if self._is_here():
            closing = self._loop.create_task(generator.aclose())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        else:
            self.run(_await(generator.aclose()))

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def close(self) -> None:
        """Stop the loop and end the thread; harmless when done before, and in a process that was forked from it."""
        if self.closed or self.is_copy:
            return
        self._post(self._life.stop)
        self._thread.join()
        self._loop.close()


class _Life:
    """What the thread of a loop does; it knows nothing of who uses the loop, who may therefore be collected."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._stops = False
        self._ending: asyncio.Task[None] | None = None

    def serve(self) -> None:
        """Run the loop until it is stopped; on its thread."""
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        if self._ending is not None:
            self.loop.close()

    def begin(self, job: _Job[Any]) -> None:
        """Start a job; what comes while tasks are being cancelled would be left over."""
        if self._stops:
            job.forget()
        else:
            job.start()

    def stop(self) -> None:
        """Once only: what stops the loop again would stop it while it cleans up."""
        if not self._stops:
            self._stops = True
            self.loop.stop()

    def end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Stop by itself, after one more thing."""
        self._ending = self.loop.create_task(last())
        self._ending.add_done_callback(self._on_end)

    def _on_end(self, ending: asyncio.Task[None]) -> None:
        wrong = None if ending.cancelled() else ending.exception()
        if wrong is not None:
            _log.warning("A connection that nobody had closed could not end well: %s", wrong)
        self.stop()


def _end(life: _Life, process: int, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Nobody is left who could close a loop. This may run on any thread, the loop's own too, and waits for nothing."""
    if os.getpid() == process:
        with suppress(RuntimeError):  # it is closed
            life.loop.call_soon_threadsafe(life.end, last)


class CallersLoop(LoopThread):
    """The loop that is running, for blocking code on other threads; a query that nobody waits for asks no more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()
        self._closing = set()
        self._life = _Life(self._loop)
        self._left = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result, which the loop's own thread must not do."""
        if self._left:
            work.close()
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The query was cancelled.")
        return super().run(work)

    def leave(self) -> None:
        """Nobody waits any more."""
        self._left = True

    def close(self) -> None:
        """It is the caller's."""


class _Job(Generic[T]):
    """Work on the loop, for whoever waits for it elsewhere."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> None:
        self._loop = loop
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._is_done = False
        # Not an Event: a signal in the middle of waiting for one would leave its lock locked, and the loop waiting.
        self._gate = threading.Lock()
        self._gate.acquire()

    def has_ended(self, patience_s: float) -> bool:
        """Whether it is over, after some waiting."""
        return self._is_done or self._gate.acquire(timeout=patience_s)

    def start(self) -> None:
        """Begin; on the loop."""
        self._task = self._loop.create_task(_await(self._work))
        self._task.add_done_callback(lambda _: self._end())

    def cancel(self) -> None:
        """End it before it is done, or begun; on the loop."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._end()

    def forget(self) -> None:
        """End it before it is begun, where it never will be."""
        if not self._is_done:
            self._end()

    def _end(self) -> None:
        self._work.close()  # what was cancelled before its first step would be said to have been forgotten
        self._is_done = True
        self._gate.release()

    def result(self) -> T:
        """What came of it, once it has ended."""
        try:
            if self._task is not None:
                return self._task.result()
        except asyncio.CancelledError:
            pass
        raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The connection was closed meanwhile.")


async def _await(work: Awaitable[T]) -> T:
    return await work


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
