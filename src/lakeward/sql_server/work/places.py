"""Places: how many questions are answered at once, in all and of one person; the others wait in turn.

Whoever has the fewest under way is next, and of those the one who came first: one person with many questions does not
keep out another with one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from lakeward.errors import ErrorCode
from lakeward.runtime.clock import Clock

_LOOK_S = 0.25


class _Waiting:
    """Somebody in the queue, who is woken alone when it is their turn."""

    __slots__ = ("turn", "who")

    def __init__(self, who: str) -> None:
        self.who = who
        self.turn = Event()


class Places:
    """A bounded number of places; so many may wait for one."""

    def __init__(self, in_all: int, of_one: int, waiting_max: int, clock: Clock) -> None:
        self._in_all = in_all
        self._of_one = of_one
        self._waiting_max = waiting_max
        self._clock = clock
        self._lock = Lock()
        self._taken: Counter[str] = Counter()
        self._waiting: list[_Waiting] = []

    @contextmanager
    def place(self, who: str, patience_s: float, check: Callable[[], None]) -> Iterator[None]:
        """A place for one question; waits for it, while `check` does not raise. STORAGE_BACKPRESSURE if none comes."""
        self._take(who, patience_s, check)
        try:
            yield
        finally:
            self._leave(who)

    def _take(self, who: str, patience_s: float, check: Callable[[], None]) -> None:
        mine = _Waiting(who)
        with self._lock:
            if len(self._waiting) >= self._waiting_max:
                raise ErrorCode.STORAGE_BACKPRESSURE.error(
                    f"{self._waiting_max} questions wait already, which is as many as may; try again soon."
                )
            self._waiting.append(mine)
            self._call_next()
        try:
            self._wait(mine, patience_s, check)
        except BaseException:
            self._give_up(mine)
            raise

    def _wait(self, mine: _Waiting, patience_s: float, check: Callable[[], None]) -> None:
        end = self._clock.monotonic() + patience_s
        while not mine.turn.is_set():
            check()
            left = end - self._clock.monotonic()
            if left <= 0:
                raise ErrorCode.STORAGE_BACKPRESSURE.error(
                    f"No place was free for {patience_s:.0f} seconds: too many questions are being answered."
                )
            mine.turn.wait(min(left, _LOOK_S))

    def _give_up(self, mine: _Waiting) -> None:
        with self._lock:
            if not mine.turn.is_set():
                self._waiting.remove(mine)
                return
        self._leave(mine.who)  # a place came just now

    def _leave(self, who: str) -> None:
        with self._lock:
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]
            self._call_next()

    def _call_next(self) -> None:
        """Give places that are free to those whose turn it is."""
        while self._waiting and self._taken.total() < self._in_all:
            able = [one for one in self._waiting if self._taken[one.who] < self._of_one]
            if not able:
                return
            chosen = min(able, key=lambda one: self._taken[one.who])  # the first of the smallest
            self._waiting.remove(chosen)
            self._taken[chosen.who] += 1
            chosen.turn.set()
