"""Flow: a piece of work written once, whose long parts are done here and now, or beside the loop.

A flow yields each long part as a function and is handed what that returns or raises; what stands between two parts is
done on the loop. Small requests run through without a break, large ones let everybody else be served.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")
#: Yields functions that may run on any thread, and returns what comes of it all.
Flow = Generator[Callable[[], Any], Any, T]


def run_here(flow: Flow[T]) -> T:
    """Do all of it at once."""
    try:
        part = next(flow)
        while True:
            try:
                done = part()
            except Exception as wrong:  # noqa: BLE001 - the flow decides what it means
                part = flow.throw(wrong)
            else:
                part = flow.send(done)
    except StopIteration as end:
        value: T = end.value
        return value


async def run_beside(flow: Flow[T], on_thread: Callable[[Callable[[], Any]], Awaitable[Any]]) -> T:
    """Do the long parts on a thread."""
    try:
        part = next(flow)
        while True:
            try:
                done = await on_thread(part)
            except Exception as wrong:  # noqa: BLE001 - the flow decides what it means
                part = flow.throw(wrong)
            else:
                part = flow.send(done)
    except StopIteration as end:
        value: T = end.value
        return value
