"""Ahead: an answer whose next rows are made on a thread of its own, while whoever asked is sent the ones before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from threading import Condition, Thread
from typing import Protocol

import pyarrow as pa

from lakeward.sql_server.work.short import Answer

#: How much waits to be taken before no more is made.
_WAITING_BYTES = 8 << 20
_AGAIN_S = 0.2


class StoppableAnswer(Answer, Protocol):
    """Rows that take a while, and can be told not to."""

    def stop(self) -> None:
        """End what makes them; from any thread, and often."""
        ...


class Ahead:
    """The same answer; it is asked on one thread, and closed only when that has ended."""

    def __init__(self, answer: StoppableAnswer) -> None:
        self.schema = answer.schema
        self._answer = answer
        self._changed = Condition()
        self._waiting: deque[pa.RecordBatch] = deque()
        self._bytes = 0
        self._is_over = False
        self._wrong: BaseException | None = None
        self._thread: Thread | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self._thread = Thread(target=self._make, name="lakeward-rows-ahead", daemon=True)
        self._thread.start()
        while (batch := self._take()) is not None:
            yield batch
            del batch

    def close(self) -> None:
        """Let go of it, read or not."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        while self._thread is not None and self._thread.is_alive():
            self._answer.stop()  # again and again: DuckDB loses one that comes between two of its steps
            self._thread.join(_AGAIN_S)
        self._waiting.clear()
        self._answer.close()

    def _take(self) -> pa.RecordBatch | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            if not self._waiting:
                if self._wrong is not None:
                    raise self._wrong
                return None
            batch = self._waiting.popleft()
            self._bytes -= batch.nbytes
            self._changed.notify_all()
            return batch

    def _make(self) -> None:
        try:
            for batch in self._answer:
                if not self._put(batch):
                    return
                del batch
        except BaseException as wrong:  # noqa: BLE001 - told to whoever takes the rows
            self._wrong = wrong
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _put(self, batch: pa.RecordBatch) -> bool:
        """Whether anybody wants more."""
        with self._changed:
            self._waiting.append(batch)
            self._bytes += batch.nbytes
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._bytes < _WAITING_BYTES or self._is_over)
            return not self._is_over
