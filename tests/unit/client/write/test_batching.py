"""Small writes are gathered, large ones are cut, and no row changes its place."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.write.batching import Batching, Destination

HERE = Destination(None, 0)
THERE = Destination("p", 1)


def rows(start: int, count: int) -> pa.RecordBatch:
    """Numbered rows of 8 bytes each."""
    return pa.record_batch({"n": pa.array(range(start, start + count), pa.int64())})


def test_small_writes_wait_until_the_size_is_reached() -> None:
    """A batch is closed when its rows reach the wanted size, and holds them in order."""
    batching = Batching(batch_bytes=80)
    assert list(batching.add(HERE, rows(0, 4))) == []
    (full,) = batching.add(HERE, rows(4, 6))
    assert full.column("n").to_pylist() == list(range(10))
    assert not batching


def test_rows_wait_apart_for_each_destination() -> None:
    """Closing one leaves the others."""
    batching = Batching(batch_bytes=1000)
    list(batching.add(HERE, rows(0, 1)))
    list(batching.add(THERE, rows(1, 1)))
    assert batching.waiting() == [HERE, THERE]
    assert batching.close(HERE).column("n").to_pylist() == [0]
    assert batching.waiting() == [THERE]


def test_a_batch_of_fair_size_goes_as_it_is() -> None:
    """What the user made a batch stays one, without a copy."""
    batch = rows(0, 20)
    (full,) = Batching(batch_bytes=80).add(HERE, batch)
    assert full is batch


def test_a_huge_batch_is_cut_without_copying() -> None:
    """Pieces of about the wanted size, slices of the same memory."""
    batch = rows(0, 1000)
    pieces = list(Batching(batch_bytes=800).add(HERE, batch))
    assert len(pieces) == 10
    assert {p.column("n").buffers()[1].address for p in pieces} == {batch.column("n").buffers()[1].address}


def test_a_row_limit_closes_and_cuts() -> None:
    """`batch_rows` is the most a batch holds."""
    batching = Batching(batch_bytes=1 << 20, batch_rows=3)
    assert [p.num_rows for p in batching.add(HERE, rows(0, 8))] == [3, 3]
    assert [p.num_rows for p in batching.add(HERE, rows(8, 1))] == [3]


def test_no_rows_make_no_batch() -> None:
    """Writing nothing sends nothing."""
    batching = Batching(batch_bytes=1)
    assert list(batching.add(HERE, rows(0, 0))) == []
    assert not batching


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 400), st.none() | st.integers(1, 20))
def test_every_row_comes_out_once_in_order(sizes: list[int], batch_bytes: int, batch_rows: int | None) -> None:
    """However writes are sized, the rows of a destination keep their order."""
    batching = Batching(batch_bytes, batch_rows)
    out: list[int] = []
    total = 0
    for size in sizes:
        for full in batching.add(HERE, rows(total, size)):
            out += full.column("n").to_pylist()
            assert batch_rows is None or full.num_rows <= batch_rows
        total += size
    for to in batching.waiting():
        out += batching.close(to).column("n").to_pylist()
    assert out == list(range(total))
