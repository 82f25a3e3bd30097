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


class Turn:
    """Somebody in the queue, who is woken alone when a place is theirs."""

    __slots__ = ("_came", "_clock", "_patience_s", "_until", "who")

    def __init__(self, who: str, patience_s: float, clock: Clock) -> None:
        self.who = who
        self._clock = clock
        self._patience_s = patience_s
        self._until = clock.monotonic() + patience_s
        self._came = Event()

    @property
    def has_come(self) -> bool:
        """Whether the place is there."""
        return self._came.is_set()

    def come(self) -> None:
        """The place is theirs."""
        self._came.set()

    def wait(self, check: Callable[[], None]) -> None:
        """Until the place is there, while `check` does not raise. STORAGE_BACKPRESSURE if none comes in time."""
        while not self._came.is_set():
            check()
            left = self._until - self._clock.monotonic()
            if left <= 0:
                raise ErrorCode.STORAGE_BACKPRESSURE.error(
                    f"No place was free for {self._patience_s:.0f} seconds: too many questions are being answered."
                )
            self._came.wait(min(left, _LOOK_S))


class Places:
    """A bounded number of places; so many may wait for one."""

    def __init__(self, in_all: int, of_one: int, waiting_max: int, clock: Clock) -> None:
        self._in_all = in_all
        self._of_one = of_one
        self._waiting_max = waiting_max
        self._clock = clock
        self._lock = Lock()
        self._taken: Counter[str] = Counter()
        self._waiting: list[Turn] = []

    @contextmanager
    def place(self, who: str, patience_s: float, check: Callable[[], None]) -> Iterator[None]:
        """A place for one question; waits for it."""
        with self.line(who, patience_s) as turn:
            turn.wait(check)
            yield

    @contextmanager
    def line(self, who: str, patience_s: float) -> Iterator[Turn]:
        """In the queue, then in a place, for as long as one is inside; who does not wait may do something else."""
        mine = Turn(who, patience_s, self._clock)
        with self._lock:
            if len(self._waiting) >= self._waiting_max:
                raise ErrorCode.STORAGE_BACKPRESSURE.error(
                    f"{self._waiting_max} questions wait already, which is as many as may; try again soon."
                )
            self._waiting.append(mine)
            self._call_next()
        try:
            yield mine
        finally:
            self._leave(mine)

    def _leave(self, mine: Turn) -> None:
        with self._lock:
            if not mine.has_come:
                self._waiting.remove(mine)
                return
            self._taken[mine.who] -= 1
            if not self._taken[mine.who]:
                del self._taken[mine.who]
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
            chosen.come()
