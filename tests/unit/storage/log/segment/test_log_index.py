"""Sparse indexes: where to start looking, and what their files hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.storage.log.segment.log_index import LogIndex

VECTORS = json.loads((Path(__file__).parents[4] / "data" / "vectors.json").read_text())["index_files"]


def index_of(*entries: tuple[int, int, int, int]) -> LogIndex:
    """An index of (last offset, position, time, base offset) entries."""
    index = LogIndex()
    for entry in entries:
        index.add(*entry)
    return index


TEN = index_of(*((10 * i + 9, 100 * i, 1000 * i, 10 * i) for i in range(10)))


def test_files_have_the_bytes_of_apache_fluss() -> None:
    """Both index files are written and read as the vectors show."""
    offsets, times = (bytes.fromhex(v["hex"]) for v in VECTORS)
    index = LogIndex.of_files(offsets, times, 5000)
    assert index is not None
    assert (index.offset_bytes(), index.time_bytes()) == (offsets, times)
    assert index.position_before(25) == 4312
    assert index.position_before(24) == 0
    assert index.time_ms_max == 1700000000500
    assert index.time_before(1700000000501) == (1700000000500, 20)


def test_an_empty_index_says_start_at_the_beginning() -> None:
    """Without entries everything is looked for from position and offset zero."""
    empty = LogIndex()
    assert (empty.position_before(99), empty.position_up_to(99), empty.time_before(99)) == (0, 0, (-1, 0))
    assert (empty.time_ms_max, empty.last_position) == (-1, 0)
    assert (empty.offset_bytes(), empty.time_bytes()) == (b"", b"")


def test_looking_for_an_offset_never_starts_behind_it() -> None:
    """The batch at the returned position ends at or before the offset."""
    assert [TEN.position_before(o) for o in (0, 8, 9, 10, 18, 19, 99, 10**6)] == [0, 0, 0, 0, 0, 100, 900, 900]


def test_looking_for_a_time_never_starts_behind_it() -> None:
    """The returned offset was reached before the time, so the first batch at that time lies ahead."""
    assert [TEN.time_before(t)[1] for t in (-5, 0, 1, 1000, 1001, 10**6)] == [0, 0, 0, 0, 10, 90]


def test_a_position_can_be_checked_against_its_offset() -> None:
    """The index says where a batch ends that starts at one of its positions, and nothing of other positions."""
    assert [TEN.offset_at(p) for p in (0, 100, 900, 50, 901)] == [9, 19, 99, None, None]
    assert LogIndex().offset_at(0) is None


def test_time_that_stands_still_makes_no_entry() -> None:
    """Only the first batch that reached a time is remembered for it."""
    index = index_of((0, 0, 50, 0), (1, 10, 50, 1), (2, 20, 49, 2), (3, 30, 60, 3))
    assert len(index.time_bytes()) == 2 * 12
    assert index.time_before(60) == (50, 0)
    assert index.time_before(61) == (60, 3)


def test_cutting_forgets_what_lies_behind() -> None:
    """After a cut neither positions nor times of the lost batches are known."""
    index = LogIndex.of_files(TEN.offset_bytes(), TEN.time_bytes(), 1000)
    assert index is not None
    index.cut(300, 30)
    assert index.last_position == 200
    assert index.time_ms_max == 2000
    index.cut(0, 0)
    assert index.offset_bytes() == index.time_bytes() == b""


@pytest.mark.parametrize(
    ("offsets", "times", "size"),
    [
        (TEN.offset_bytes()[:-1], TEN.time_bytes(), 1000),
        (TEN.offset_bytes(), TEN.time_bytes()[:-1], 1000),
        (TEN.offset_bytes(), TEN.time_bytes(), 900),
        (TEN.offset_bytes() * 2, TEN.time_bytes(), 1000),
        (TEN.offset_bytes(), TEN.time_bytes() * 2, 1000),
        (bytes(16), b"", 1000),
        (b"\xff" * 8, b"", 1000),
    ],
    ids=["cut offsets", "cut times", "behind the segment", "falling", "falling times", "zeros", "negative"],
)
def test_files_that_cannot_be_right_are_refused(offsets: bytes, times: bytes, size: int) -> None:
    """A torn, doubled or foreign index file is noticed; the index is then rebuilt from the segment."""
    assert LogIndex.of_files(offsets, times, size) is None


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 500), st.integers(0, 30)), max_size=30))
def test_files_make_the_round_trip(steps: list[tuple[int, int, int]]) -> None:
    """Any index that an append-only segment can have is the same after it was stored."""
    index = LogIndex()
    offset = position = time_ms = 0
    for rows, size, passed in steps:
        index.add(offset + rows - 1, position, time_ms, offset)
        offset, position, time_ms = offset + rows, position + size, time_ms + passed
    again = LogIndex.of_files(index.offset_bytes(), index.time_bytes(), position + 1)
    assert again is not None
    assert (again.offset_bytes(), again.time_bytes()) == (index.offset_bytes(), index.time_bytes())
