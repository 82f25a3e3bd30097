"""A loop and threads that do what they are told, when they are told: nothing happens by itself."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from lakeward.runtime.clock import ManualClock

_STEPS_MAX = 100_000


class SteppedThreads(Executor):
    """Work that waits until the simulation does a piece of it; each kind of thread in order."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def __len__(self) -> int:
        return len(self._jobs)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Take work in."""
        future: Future[Any] = Future()
        self._jobs.append((future, lambda: fn(*args, **kwargs)))
        return future

    def step(self) -> bool:
        """Do the oldest piece; False when there is none."""
        if not self._jobs:
            return False
        future, job = self._jobs.popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(job())
            except Exception as wrong:  # noqa: BLE001 - it is the caller's to hear
                future.set_exception(wrong)
        return True

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do what is left."""
        while wait and not cancel_futures and self.step():
            pass


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose time is a clock's, moved by hand, and whose threads are steps between its turns."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock
        self._scheduled: list[asyncio.TimerHandle]
        self.threads: list[SteppedThreads] = []
        self.is_on_a_thread = False
        self._default = self.new_threads(1, "default")

    def time(self) -> float:
        """The clock's."""
        return self._clock.monotonic()

    def new_threads(self, count: int, name: str) -> SteppedThreads:
        """Threads, of whatever name and number: one piece of work at a time."""
        del count, name
        made = SteppedThreads()
        self.threads.append(made)
        return made

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """On the threads of this world."""
        return super().run_in_executor(executor or self._default, func, *args)

    async def getaddrinfo(self, *_: Any, **__: Any) -> list[Any]:
        """No address: nobody comes from outside."""
        return []

    # -- steps

    def turn(self) -> None:
        """Do what is ready."""
        self._stopping = True
        self.run_forever()

    def run_until(self, is_done: Callable[[], bool]) -> None:
        """Go on until something is so: what is ready first, then threads, then time."""
        for _ in range(_STEPS_MAX):
            self.turn()
            if is_done():
                return
            if not self._ready and not self.step_threads():  # type: ignore[attr-defined]
                self._go_to_next_timer()
        raise AssertionError("it never happens")

    def step_threads(self) -> bool:
        """A piece of work of the first thread that has one; False when none has."""
        self.is_on_a_thread = True
        try:
            return any(threads.step() for threads in self.threads)
        finally:
            self.is_on_a_thread = False

    def settle(self) -> None:
        """Do all that is ready and all that threads were given."""
        self.turn()
        while self._ready or self.step_threads():  # type: ignore[attr-defined]
            self.turn()

    def advance(self, by_ms: int, *, settle: bool) -> None:
        """Let time pass, timer by timer; `settle`: threads have done all they were given at the end."""
        end = self.time() + by_ms / 1000
        while True:
            self.settle() if settle else self.turn()
            due = self._next_timer()
            if due is None or due > end:
                break
            self._clock.advance(max(round((due - self.time()) * 1000), 1))
        self._clock.advance(max(round((end - self.time()) * 1000), 0))
        self.settle() if settle else self.turn()

    def _next_timer(self) -> float | None:
        times = [handle.when() for handle in self._scheduled if not handle.cancelled()]
        return min(times, default=None)

    def _go_to_next_timer(self) -> None:
        due = self._next_timer()
        assert due is not None, "everybody waits for somebody else"
        self._clock.advance(max(round((due - self.time()) * 1000), 1))

    def abandon(self) -> None:
        """The process has died: nothing of it goes on."""
        self._ready.clear()  # type: ignore[attr-defined]
        self._scheduled.clear()
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            task.get_coro().close()  # type: ignore[union-attr]
        self.close()
