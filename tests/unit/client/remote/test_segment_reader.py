"""Segments are read in order, ahead of the reader but not far, and never more than there are slots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest
from remote_segments import batches, segment

from lakeward.client.remote.segment import Segment
from lakeward.client.remote.segment_reader import read_segments
from lakeward.errors import ErrorCode, LakewardError, NotFoundError


class FakeSource:
    """Segments in memory; notes what was asked for, and holds answers back when told to."""

    def __init__(self, datas: dict[str, bytes], piece_bytes: int = 1000) -> None:
        self.piece_bytes = piece_bytes
        self.asked: list[tuple[str, int]] = []
        self.under_way = self.under_way_max = 0
        self.fails_at: tuple[str, int] | None = None
        self._datas = datas

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """A piece."""
        name = segment.name.partition("/")[0]
        self.asked.append((name, number))
        self.under_way += 1
        self.under_way_max = max(self.under_way, self.under_way_max)
        try:
            await asyncio.sleep(0)
            if (name, number) == self.fails_at:
                raise NotFoundError(ErrorCode.STORAGE, f"{name} is gone.")
            return memoryview(self._datas[name])[number * self.piece_bytes : (number + 1) * self.piece_bytes]
        finally:
            self.under_way -= 1


@pytest.fixture
def workers() -> AsyncIterator[ThreadPoolExecutor]:
    """Threads."""
    with ThreadPoolExecutor(2) as made:
        yield made


A, B, C = batches(0, 40), batches(400, 40), batches(800, 40)
SEGMENTS = [
    segment(A, 0, 400, name="a"),
    segment(B, 400, 800, name="b"),
    segment(C, 800, 1200, name="c"),
]


def source(**datas: bytes) -> FakeSource:
    """The three segments, or others."""
    return FakeSource({"a": A, "b": B, "c": C} | datas)


async def read_all(
    source: FakeSource,
    workers: ThreadPoolExecutor,
    segments: Sequence[Segment] = SEGMENTS,
    slots: int = 16,
    ahead: int = 4,
) -> bytes:
    """All batches, one behind the other."""
    gate = asyncio.Semaphore(slots)
    found = b""
    async with aclosing(read_segments(source, segments, gate, workers, ahead)) as cuts:
        async for some in cuts:
            found += b"".join(cut.records for cut in some)
    assert gate._value == slots
    return found


async def test_segments_come_one_behind_the_other(workers: ThreadPoolExecutor) -> None:
    """Every batch once, in order, whatever was under way."""
    found = source()
    assert await read_all(found, workers) == A + B + C
    assert len(found.asked) == len(set(found.asked))


async def test_the_first_segment_begins_where_the_offset_is(workers: ThreadPoolExecutor) -> None:
    """Pieces in front of the asked offset are not got at all."""
    late = segment(A, 0, 400, first_byte=len(A) * 3 // 4, name="a")
    found = source()
    assert await read_all(found, workers, [late, SEGMENTS[1]]) == A[len(A) * 3 // 4 :] + B
    assert min(number for name, number in found.asked if name == "a") == len(A) * 3 // 4 // 1000


async def test_the_first_rows_cost_one_piece_and_the_next_few(workers: ThreadPoolExecutor) -> None:
    """A reader that stops at once has not set the whole segment in motion."""
    found = source()
    async with aclosing(read_segments(found, SEGMENTS, asyncio.Semaphore(16), workers, 4)) as cuts:
        await anext(cuts)
    assert found.asked == [("a", 0), ("a", 1)] or found.asked == [("a", 0)]


async def test_reading_ahead_grows_up_to_a_bound(workers: ThreadPoolExecutor) -> None:
    """The longer a scan reads, the more is under way: eight pieces besides the one that is read."""
    data, gate = batches(0, 400), asyncio.Semaphore(16)
    async with aclosing(read_segments(source(a=data), [segment(data, 0, 4000, name="a")], gate, workers, 4)) as cuts:
        held = [16 - gate._value async for _ in cuts]
    assert held[:4] == [2, 3, 5, 9]
    assert max(held) == 9


async def test_slots_bound_what_all_readers_hold(workers: ThreadPoolExecutor) -> None:
    """Many readers share few slots, and all come to their end."""
    found, gate = source(), asyncio.Semaphore(3)

    async def one() -> bytes:
        async with aclosing(read_segments(found, SEGMENTS, gate, workers, 4)) as cuts:
            return b"".join([cut.records async for some in cuts for cut in some])

    assert await asyncio.gather(*(one() for _ in range(10))) == [A + B + C] * 10
    assert found.under_way_max <= 3
    assert gate._value == 3


async def test_segments_ahead_are_counted(workers: ThreadPoolExecutor) -> None:
    """With one segment ahead allowed, the second is not begun before the first is at its end."""
    small = FakeSource({"a": A, "b": B, "c": C}, piece_bytes=1 << 20)
    async with aclosing(read_segments(small, SEGMENTS, asyncio.Semaphore(16), workers, 1)) as cuts:
        await anext(cuts)
        assert small.asked == [("a", 0)]


async def test_a_failure_comes_after_what_was_before_it(workers: ThreadPoolExecutor) -> None:
    """What could be read is handed out first; slots come back."""
    found, gate, got = source(), asyncio.Semaphore(16), b""
    found.fails_at = ("b", 1)

    async def read() -> None:
        nonlocal got
        async with aclosing(read_segments(found, SEGMENTS, gate, workers, 4)) as cuts:
            async for some in cuts:
                got += b"".join(cut.records for cut in some)

    with pytest.raises(NotFoundError):
        await read()
    assert got.startswith(A)
    assert gate._value == 16


async def test_a_damaged_end_is_told_before_the_next_segment(workers: ThreadPoolExecutor) -> None:
    """Rows behind a hole are not handed out."""
    with pytest.raises(LakewardError, match="damaged") as caught:
        await read_all(source(a=A[:-10]), workers)
    assert caught.value.code is ErrorCode.CORRUPT_RECORD
