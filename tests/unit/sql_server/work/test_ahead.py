"""Ahead: rows that are made while the ones before them are on their way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pyarrow as pa
import pytest

from lakeward.sql_server.work.ahead import Ahead

_LONG_S = 60.0
_MEGABYTE = 1 << 20


class Made:
    """An answer of megabytes, which knows how it is used."""

    schema = pa.schema([("n", pa.int64())])

    def __init__(self, batches: int, wrong: BaseException | None = None) -> None:
        self.batches = batches
        self.wrong = wrong
        self.made = 0
        self.changed = threading.Condition()
        self.stops = 0
        self.is_closed = False
        self.thread: threading.Thread | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.thread = threading.current_thread()
        for number in range(self.batches):
            yield pa.record_batch([pa.array([number] * (_MEGABYTE // 8), pa.int64())], schema=self.schema)
            with self.changed:
                self.made += 1
                self.changed.notify_all()
        if self.wrong is not None:
            raise self.wrong

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for it."""
        with self.changed:
            assert self.changed.wait_for(is_so, _LONG_S)

    def stop(self) -> None:
        """Count it."""
        with self.changed:
            self.stops += 1
            self.changed.notify_all()

    def close(self) -> None:
        """Nobody may be making rows any more."""
        assert self.thread is None or not self.thread.is_alive()
        self.is_closed = True


class Endless(Made):
    """One whose second batch takes until somebody stops it, twice: the first time it does not hear."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from super().__iter__()
        self.until(lambda: self.stops >= 2)
        raise ValueError("stopped")


def numbers(answer: Ahead) -> list[int]:
    """The first value of each batch."""
    return [batch.column(0)[0].as_py() for batch in answer]


def test_all_rows_come_in_their_order() -> None:
    """As many as there are, none twice."""
    made = Made(30)
    with closing(Ahead(made)) as answer:
        assert answer.schema == made.schema
        assert numbers(answer) == list(range(30))
    assert made.is_closed


def test_rows_are_made_before_they_are_asked_for_and_not_without_end() -> None:
    """While the first batch is with whoever asked, the next are there: a few megabytes of them, however many follow."""
    made = Made(1000)
    with closing(Ahead(made)) as answer:
        rows = iter(answer)
        next(rows)
        made.until(lambda: made.made >= 5)
        with made.changed:
            assert not made.changed.wait_for(lambda: made.made > 12, 0.2)
        next(rows)
    assert made.is_closed


def test_what_goes_wrong_comes_after_the_rows_before_it() -> None:
    """On the thread of whoever asked."""
    made = Made(3, KeyError("gone"))
    with closing(Ahead(made)) as answer:
        rows = iter(answer)
        assert [next(rows).num_rows for _ in range(3)] == [_MEGABYTE // 8] * 3
        with pytest.raises(KeyError, match="gone"):
            next(rows)


def test_who_leaves_ends_what_is_being_made() -> None:
    """It is told again until it hears, and closed only then: what it reads from is gone afterwards."""
    made = Endless(1)
    with closing(Ahead(made)) as answer:
        next(iter(answer))
    assert made.is_closed
    assert made.stops >= 2


def test_an_answer_that_nobody_read_is_closed() -> None:
    """No thread was begun for it."""
    made = Made(3)
    Ahead(made).close()
    assert made.is_closed
    assert made.thread is None
