"""Pieces become whole batches, wherever the cuts fall; damage is told, never passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_segments import batches, segment

from lakeward.client.remote.piece_cutter import PieceCutter
from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.log_batch import walk_batches

DATA = batches(100, 7)
LAST = len(DATA) // 7


def read(data: bytes, piece_bytes: int, *, first_byte: int = 0, size: int | None = None, end: int = 170) -> bytes:
    """Everything a cutter makes of data in pieces."""
    cutter = PieceCutter(segment(data if size is None else bytes(size), 100, end, first_byte=first_byte))
    found = b""
    for at in range(first_byte, len(data), piece_bytes):
        for cut in cutter.take(memoryview(data)[at : at + piece_bytes]):
            *_, last = walk_batches(cut.records)
            assert cut.last == last.header
            found += cut.records
    cutter.end()
    return found


@given(st.integers(1, len(DATA) + 10))
def test_the_size_of_pieces_is_invisible(piece_bytes: int) -> None:
    """Any cutting of a segment gives the same batches."""
    assert read(DATA, piece_bytes) == DATA


def test_reading_may_begin_at_a_later_batch() -> None:
    """The server's position skips what stands before the asked offset."""
    assert read(DATA, 1000, first_byte=LAST) == DATA[LAST:]


@pytest.mark.parametrize("piece_bytes", [50, 333, 1 << 20])
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda d: d[:-1], "cut off"),
        (lambda d: d[:LAST] + d[2 * LAST :], "offset 110 is missing"),
        (lambda d: d[: 6 * LAST], "ends at offset 160, not at 170"),
        (lambda d: d[: LAST + 8] + b"\xff\xff\xff\x7f" + d[LAST + 12 :], f"no batch at byte {LAST}"),
        (lambda d: d[: LAST + 8] + b"\x00\x00\x00\x00" + d[LAST + 12 :], f"no batch at byte {LAST}"),
        (lambda d: d[: LAST + 12] + b"\x09" + d[LAST + 13 :], f"no batch at byte {LAST}"),
        (lambda d: b"\x00" * 8 + d[8:], "offset 100 is missing at byte 0"),
    ],
    ids=["tail", "gap", "short", "long-length", "short-length", "magic", "first"],
)
def test_damage_is_told_with_the_segment(piece_bytes: int, damage, says: str) -> None:  # type: ignore[no-untyped-def]
    """Whatever is wrong, rows are never left out silently."""
    with pytest.raises(LakewardError, match=says) as caught:
        read(damage(DATA), piece_bytes, size=len(DATA))
    assert caught.value.code is ErrorCode.CORRUPT_RECORD
    assert "s3://bucket/log/u/00000000000000000100.log" in caught.value.message


def test_large_segments_are_cut_for_the_decoder() -> None:
    """A piece of many megabytes is not one chunk."""
    data = batches(0, 30, rows=10_000)
    cuts = PieceCutter(segment(data, 0, 300_000)).take(memoryview(data))
    assert len(cuts) > 1
    assert max(len(cut.records) for cut in cuts) < 2 << 20
