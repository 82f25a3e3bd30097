"""Answers are cut between batches, never inside one."""

from __future__ import annotations

import pytest
from arrow_batches import ids_batch
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.decode.batch_cutter import cut
from lakeward.errors import CorruptError
from lakeward.records.batch.log_batch import walk_batches


def stream(sizes: list[int]) -> bytes:
    """Batches with these row counts, offsets dense from 100."""
    out, offset = b"", 100
    for size in sizes:
        out += ids_batch(range(size), base_offset=offset)
        offset += max(size, 1)
    return out


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(1, 3000), st.integers(0, 200))
def test_pieces_are_whole_batches(sizes: list[int], piece_bytes: int, tail: int) -> None:
    """The pieces together are all whole batches; a batch that is cut off at the end is left out."""
    whole = stream(sizes)
    cut_off = bytes(ids_batch(range(100)))[:tail]
    pieces = list(cut(memoryview(whole + cut_off), piece_bytes))
    assert b"".join(p for p, _ in pieces) == whole
    for piece, last in pieces:
        spans = list(walk_batches(piece))
        assert spans[-1].end == len(piece)
        assert spans[-1].header == last
    assert all(len(p) >= piece_bytes for p, _ in pieces[:-1])


def test_the_last_header_tells_where_to_go_on() -> None:
    """The offset after a piece is the one after its last batch."""
    ((_, last),) = cut(memoryview(stream([3, 4])))
    assert last.last_offset + 1 == 107


def test_garbage_ends_the_walk() -> None:
    """A length or version that makes no sense ends the cutting; an answer that begins so is refused."""
    good = bytes(ids_batch([1]))
    for garbage in (bytes(100), b"\xff" * 100):
        assert [bytes(piece) for piece, _ in cut(memoryview(good + garbage))] == [good]
        with pytest.raises(CorruptError):
            list(cut(memoryview(garbage)))
