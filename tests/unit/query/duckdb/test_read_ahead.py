"""Batches read ahead of who takes them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pyarrow as pa
import pytest

from lakeward.query.duckdb.read_ahead import ReadAhead


def batch(number: int) -> pa.RecordBatch:
    """A batch of eight bytes."""
    return pa.record_batch([pa.array([number])], ["n"])


def numbers(start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Some batches."""
    return (batch(n) for n in range(start, stop))


def test_everything_comes_once() -> None:
    """Of more sources than threads, with room for a batch or for all."""
    for room in (1, 1 << 20):
        sources = [lambda first=first: numbers(first, first + 10) for first in range(0, 100, 10)]
        found = sorted(b.column(0)[0].as_py() for b in ReadAhead(sources, room))
        assert found == list(range(100))
    assert list(ReadAhead([])) == []


def test_it_begins_before_anybody_asks_and_stops_when_nobody_takes() -> None:
    """No more waits than is allowed; sources are closed."""
    begun, closed = Event(), Event()
    taken = []

    def endless() -> Iterator[pa.RecordBatch]:
        begun.set()
        try:
            while True:
                taken.append(1)
                yield batch(1)
        finally:
            closed.set()

    ahead = ReadAhead([endless], bytes_max=80)
    assert begun.wait(30)
    rows = iter(ahead)
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert closed.is_set()
    assert len(taken) < 15


def test_what_goes_wrong_is_raised_to_the_taker() -> None:
    """And the other sources stop."""

    def wrong() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        raise ValueError("broken")

    def endless() -> Iterator[pa.RecordBatch]:
        while True:
            yield batch(1)

    with pytest.raises(ValueError, match="broken"):
        list(ReadAhead([wrong, endless], bytes_max=80))
