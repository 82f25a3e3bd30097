"""One background event loop, so that blocking code can drive the asyncio core."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from lakeward.errors import ErrorCode

T = TypeVar("T")
#: How long work that was cancelled may take to end.
_CANCEL_S = 5.0
#: A signal that comes just before a thread begins to wait does not wake it: it has to look up now and then.
_LOOK_UP_S = 0.5


class LoopThread:
    """An event loop that runs in a daemon thread until `close()`; uvloop where it is installed."""

    def __init__(self, name: str) -> None:
        self._loop = _new_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether nothing can run any more."""
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result; Ctrl-C cancels it."""
        if self.closed:
            work.close()
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(
                "The connection is closed; open a new one with lakeward.connect()."
            )
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_told(work, ended), self._loop)
        try:
            while True:
                try:
                    return future.result(_LOOK_UP_S)
                except TimeoutError:
                    if future.done():  # it ended just now, or the error is the work's own
                        return future.result()
        except KeyboardInterrupt:
            future.cancel()
            ended.wait(_CANCEL_S)  # what it used may be closed now
            raise

    def close(self) -> None:
        """Stop the loop and end the thread; harmless when done before."""
        if self.closed:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())


async def _told(work: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await work
    finally:
        ended.set()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
