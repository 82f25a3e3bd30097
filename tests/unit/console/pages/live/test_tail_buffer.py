"""Rows on their way to a page."""

from __future__ import annotations

import pyarrow as pa

from lakeward.console.pages.live.tail_buffer import TailBuffer


def rows(*numbers: int) -> pa.RecordBatch:
    """A batch of these numbers."""
    return pa.record_batch({"n": pa.array(numbers, pa.int64())})


def taken_numbers(buffer: TailBuffer) -> tuple[list[int], int, int]:
    """What is in it, how many were seen, and how many let go."""
    taken = buffer.take()
    return [n for batch in taken.batches for n in batch.column("n").to_pylist()], taken.seen, taken.left_out


def test_what_fits_comes_out_as_it_came() -> None:
    """Rows that do not match are counted as seen."""
    buffer = TailBuffer(10)
    buffer.add(rows(1, 2), 5)
    buffer.add(rows(), 3)
    assert taken_numbers(buffer) == ([1, 2], 8, 0)
    assert taken_numbers(buffer) == ([], 0, 0)


def test_only_the_newest_rows_are_held() -> None:
    """However much comes before somebody looks, in large batches or in small ones."""
    buffer = TailBuffer(5)
    buffer.add(rows(*range(100)), 100)
    assert taken_numbers(buffer) == ([95, 96, 97, 98, 99], 100, 95)
    for number in range(100):
        buffer.add(rows(number), 1)
    assert taken_numbers(buffer) == ([95, 96, 97, 98, 99], 100, 95)
    buffer.add(rows(1, 2, 3), 3)
    buffer.add(rows(4, 5, 6), 3)
    assert taken_numbers(buffer) == ([2, 3, 4, 5, 6], 6, 1)


def test_a_large_batch_is_not_held_for_the_sake_of_a_few_rows() -> None:
    """The rows that are kept are copies."""
    buffer = TailBuffer(5)
    buffer.add(rows(*range(100_000)), 100_000)
    assert sum(batch.get_total_buffer_size() for batch in buffer.take().batches) < 1000


def test_bytes_are_bounded_too() -> None:
    """Few rows can be large; the newest is always kept."""
    buffer = TailBuffer(100, bytes_max=40)
    for number in range(10):
        buffer.add(rows(number), 1)
    assert taken_numbers(buffer) == ([5, 6, 7, 8, 9], 10, 5)
    buffer.add(rows(*range(20)), 20)
    assert taken_numbers(buffer) == (list(range(20)), 20, 0)
