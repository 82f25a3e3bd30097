"""Short questions: answered beside the places, so that they do not wait behind long ones.

Nobody knows before how long a question takes. One that finds no place free is tried at once, with little memory and
for little time; what is not over by then has kept its turn, and begins again when its place comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event, Lock
from typing import Protocol, TypeVar

import pyarrow as pa

from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.query.duckdb.question.question_error import OUT_OF_MEMORY, QuestionError
from lakeward.query.duckdb.question.streamed_sql import StreamedQuestion
from lakeward.runtime.clock import Clock
from lakeward.sql_server.work.alarms import Alarms
from lakeward.sql_server.work.places import Places, Turn

T = TypeVar("T")
#: How many are tried side by side, and of one person.
LANES = 4
_LANES_OF_ONE = 2
_LANES_BYTES = 256 << 20
_SHORT_S = 1.5
#: What may be kept of one answer, and of all that nobody has read to their end.
_ANSWER_BYTES = 1 << 20
_ANSWERS_BYTES = 64 << 20


class Answer(Protocol):
    """Rows with their columns, as they come."""

    schema: pa.Schema

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...

    def close(self) -> None:
        """Let go of it, read or not."""
        ...


class TooLongError(Exception):
    """The question is no short one."""


class Shelf:
    """Answers that are whole already; so many bytes of them."""

    def __init__(self, bytes_max: int = _ANSWERS_BYTES) -> None:
        self._lock = Lock()
        self._left = bytes_max

    def keep(self, answer: Answer) -> KeptAnswer:
        """All rows of it. TooLongError if they are too many, or the shelf is full."""
        found, size = list[pa.RecordBatch](), 0
        for batch in answer:
            size += batch.nbytes
            if size > _ANSWER_BYTES:
                raise TooLongError
            found.append(batch)
        with self._lock:
            if size > self._left:
                raise TooLongError
            self._left -= size
        return KeptAnswer(self, answer.schema, found, size)

    def give_back(self, size: int) -> None:
        """Something else may lie there."""
        with self._lock:
            self._left += size


class KeptAnswer:
    """An answer that is whole; it takes no place any more."""

    def __init__(self, shelf: Shelf, schema: pa.Schema, batches: list[pa.RecordBatch], size: int) -> None:
        self.schema = schema
        self._shelf = shelf
        self._batches = batches
        self._size = size

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches)

    def close(self) -> None:
        """Its bytes are free; harmless when done before."""
        size, self._size, self._batches = self._size, 0, []
        self._shelf.give_back(size)


class Lanes:
    """Where questions are tried that found no place."""

    def __init__(self, waiting_max: int, bounds: DuckBounds, clock: Clock, alarms: Alarms) -> None:
        self._places = Places(LANES, _LANES_OF_ONE, waiting_max, clock)
        self._alarms = alarms
        self.bounds = bounds
        self.shelf = Shelf()

    def attempt(
        self, turn: Turn, patience_s: float, check: Callable[[], None], question: StreamedQuestion, ask: Callable[[], T]
    ) -> T | None:
        """What `ask` comes to; None if the question is no short one, or its turn came while it waited for a lane.

        `check` raises where somebody has ended it.
        """
        late = Event()

        def end() -> bool:
            late.set()
            question.stop()
            return True

        def look() -> None:
            check()
            if turn.has_come:
                raise TooLongError

        with (
            suppress(TooLongError),
            self._places.place(turn.who, patience_s, look),
            self._alarms.after(_SHORT_S, end),
        ):
            try:
                return ask()
            except Exception as wrong:
                check()
                if late.is_set() or _lacks_memory(wrong):
                    raise TooLongError from wrong
                raise
        return None


def lane_bounds(memory_bytes: int) -> DuckBounds:
    """What a question may take that is tried, where one in a place may take so much."""
    return DuckBounds(memory_bytes=min(memory_bytes, _LANES_BYTES), spill_bytes=0)


def _lacks_memory(wrong: Exception) -> bool:
    return isinstance(wrong, MemoryError) or (isinstance(wrong, QuestionError) and wrong.kind == OUT_OF_MEMORY)
