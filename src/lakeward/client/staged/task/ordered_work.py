"""OrderedWork: work on threads, a bounded amount of it under way, results in the order in which it was given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class OrderedWork(Generic[T]):
    """A queue through worker threads."""

    def __init__(self, workers: ThreadPoolExecutor, pending_max: int) -> None:
        self._workers = workers
        self._pending_max = pending_max
        self._pending: deque[Future[T]] = deque()

    def put(self, work: Callable[[], T], *, here: bool = False) -> Iterator[T]:
        """Start a piece of work (`here`: in this thread); yields what must or can be taken now."""
        if here:
            done: Future[T] = Future()
            done.set_result(work())
        else:
            done = self._workers.submit(work)
        self._pending.append(done)
        while self._pending and (len(self._pending) > self._pending_max or self._pending[0].done()):
            yield self._pending.popleft().result()

    def drain(self) -> Iterator[T]:
        """Everything that is left."""
        while self._pending:
            yield self._pending.popleft().result()

    def drop(self) -> None:
        """Forget what is under way."""
        for future in self._pending:
            future.cancel()
        self._pending.clear()
