"""Beside: blocking code of ours, on a thread beside the console's loop, with the connection of whoever visits.

Work that nobody waits for any more may hang for long: a lake that does not answer has a patience of its own. Its
thread does not keep the console from ending, and there are only so many of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.loop_thread import CallersLoop
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import ErrorCode

T = TypeVar("T")
_THREADS_MAX = 16
_PATIENCE_S = 30.0

_free = threading.BoundedSemaphore(_THREADS_MAX)


async def beside(inner: AsyncConnection, work: Callable[[Connection], T], patience_s: float = _PATIENCE_S) -> T:
    """Have `work` done with a blocking connection; REQUEST_TIME_OUT when it takes too long."""
    if not _free.acquire(blocking=False):
        raise ErrorCode.REQUEST_TIME_OUT.error("The console is waiting for too much at once; try again in a moment.")
    loop = CallersLoop()
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    job = _Job(asyncio.get_running_loop(), done, lambda: work(Connection(loop, inner)))
    threading.Thread(target=job.run, name="console-beside", daemon=True).start()
    try:
        return await asyncio.wait_for(done, patience_s)
    except TimeoutError as late:
        raise ErrorCode.REQUEST_TIME_OUT.error(f"There was no answer within {patience_s:g} s.") from late
    finally:
        loop.leave()


class _Job:
    """Work on a thread, and who is told of its end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, done: asyncio.Future[T], work: Callable[[], T]) -> None:
        self._loop = loop
        self._done = done
        self._work = work

    def run(self) -> None:
        """Do it and tell, if somebody still wants to know."""
        try:
            result = self._work()
        except BaseException as wrong:  # noqa: BLE001 - it is raised where somebody waits
            self._tell(self._done.set_exception, wrong)
        else:
            self._tell(self._done.set_result, result)
        finally:
            _free.release()

    def _tell(self, tell: Callable[..., None], what: object) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(lambda: None if self._done.done() else tell(what))
