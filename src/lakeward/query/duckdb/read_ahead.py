"""Batches read ahead of who takes them: by threads, a few sources side by side, as many bytes as may wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Condition, Thread

import pyarrow as pa

THREADS_MAX = 4
_BYTES_MAX = 64 << 20

Source = Callable[[], Iterator[pa.RecordBatch]]


class ReadAhead:
    """Begins to read when it is made. Batches come in any order; what goes wrong in a source is raised to the taker."""

    def __init__(self, sources: Sequence[Source], bytes_max: int = _BYTES_MAX) -> None:
        self._todo = deque(sources)
        self._ready: deque[pa.RecordBatch] = deque()
        self._bytes_left = bytes_max
        self._changed = Condition()
        self._is_over = False
        self._failure: BaseException | None = None
        count = min(len(sources), THREADS_MAX)
        self._running = count
        self._threads = [Thread(target=self._run, name="lakeward-read-ahead", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            while (batch := self._take()) is not None:
                yield batch
        finally:
            self.close()

    def close(self) -> None:
        """Stop reading, and wait until nobody does."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _take(self) -> pa.RecordBatch | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._failure or not self._running)
            if self._failure is not None:
                raise self._failure
            if not self._ready:
                return None
            batch = self._ready.popleft()
            self._bytes_left += batch.nbytes
            self._changed.notify_all()
            return batch

    # -- in the threads -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while (source := self._next()) is not None:
                rows = source()
                try:
                    for batch in rows:
                        if not self._put(batch):
                            return
                finally:
                    close = getattr(rows, "close", None)
                    if close is not None:
                        close()
        except BaseException as wrong:  # noqa: BLE001 - raised to whoever takes the batches
            with self._changed:
                self._failure = self._failure or wrong
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _next(self) -> Source | None:
        with self._changed:
            return None if self._is_over or not self._todo else self._todo.popleft()

    def _put(self, batch: pa.RecordBatch) -> bool:
        """Whether to go on; waits while too much is waiting, but for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._bytes_left > 0)
            if self._is_over:
                return False
            self._ready.append(batch)
            self._bytes_left -= batch.nbytes
            self._changed.notify_all()
            return True
