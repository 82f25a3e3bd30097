"""Alarms: calls that happen when time is up, by one thread for all who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread

from lakeward.runtime.clock import Clock

#: How soon an alarm rings again that wants to.
_AGAIN_S = 0.2


class Alarms:
    """Time limits of questions. A call that returns True is made again soon, until its question is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = Condition()
        self._at: dict[int, tuple[float, Callable[[], bool]]] = {}
        self._next = 0
        self._is_over = False
        self._thread = Thread(target=self._run, name="lakeward-time-limits", daemon=True)
        self._thread.start()

    @contextmanager
    def after(self, seconds: float, call: Callable[[], bool]) -> Iterator[None]:
        """Call it unless this is left before."""
        with self._changed:
            self._next += 1
            number = self._next
            self._at[number] = self._clock.monotonic() + seconds, call
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._at.pop(number, None)

    def close(self) -> None:
        """End the thread; nothing rings any more."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._is_over:
                    return
                now = self._clock.monotonic()
                due = [(number, call) for number, (at, call) in self._at.items() if at <= now]
                if not due:
                    soonest = min((at for at, _ in self._at.values()), default=None)
                    self._changed.wait(None if soonest is None else soonest - now)
                    continue
            for number, call in due:
                again = call()
                with self._changed:
                    if not again:
                        self._at.pop(number, None)
                    elif number in self._at:
                        self._at[number] = now + _AGAIN_S, call
