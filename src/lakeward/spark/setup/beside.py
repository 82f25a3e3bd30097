"""Work beside the main thread, which goes on hearing signals: PySpark would take Ctrl-C for itself, at any time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from lakeward.runtime.process.child import stop_children

T = TypeVar("T")
#: A signal that comes just before a wait is heard so much later.
_TICK_S = 0.5


def begin_beside(work: Callable[[], T], name: str) -> Future[T]:
    """Begin work on a thread of its own, which does not keep the process from ending."""
    begun: Future[T] = Future()

    def run() -> None:
        try:
            begun.set_result(work())
        except BaseException as wrong:  # noqa: BLE001 - it is raised where it is waited for
            begun.set_exception(wrong)

    threading.Thread(target=run, name=name, daemon=True).start()
    return begun


def wait_beside(begun: Future[T], on_tick: Callable[[], None] = lambda: None) -> T:
    """Its result; `on_tick` is called meanwhile."""
    while not wait([begun], _TICK_S).done:
        on_tick()
    return begun.result()


def give_up() -> None:
    """End the programs that were started, in silence: of what breaks now, nothing is news."""
    logging.disable()
    stop_children(0)
