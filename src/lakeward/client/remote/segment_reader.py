"""Segments → whole batches, with pieces under way ahead of the reader.

    pieces:   1  2  3  4  5  6  7  8  9 …        the first alone, so that a few rows cost little;
    ahead:    1  1  2     4           8          then twice as many each time, up to a bound

Every piece that is under way or waits to be taken has one of a scan's slots. A reader without any waits for one, in
turn; pieces ahead take only what is free. So a scan of a thousand buckets holds as little as a scan of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, Protocol

from lakeward.client.remote.piece_cutter import Cut, PieceCutter
from lakeward.client.remote.segment import Segment

_AHEAD_MAX = 8


class PieceSource(Protocol):
    """Where pieces come from."""

    @property
    def piece_bytes(self) -> int:
        """The size of a piece."""
        ...

    @property
    def gap_bytes(self) -> int:
        """Stretches no further apart than this are cheaper to get as one."""
        ...

    @property
    def batch_bytes_min(self) -> int:
        """Of smaller batches than this, on average, it is cheaper to get all than some columns."""
        ...

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""
        ...

    async def stretches(self, segment: Segment, places: Sequence[tuple[int, int]]) -> memoryview:
        """The bytes of several stretches of a segment, one behind the other; fewer where the segment ends."""
        ...

    async def columns(self, segment: Segment) -> memoryview | None:
        """The sums of a segment's columns, None when it has none."""
        ...


class Place(NamedTuple):
    """One piece to be read, and where its segment stands among those that were asked for."""

    segment: Segment
    rank: int
    number: int


async def read_segments(
    source: PieceSource, segments: Sequence[Segment], slots: asyncio.Semaphore, workers: Executor, segments_ahead: int
) -> AsyncGenerator[list[Cut], None]:
    """The batches of segments, in order, as they come; close it to stop what is under way."""
    loop = asyncio.get_running_loop()
    places = _places(segments, source.piece_bytes)
    ahead = PiecesAhead(lambda place: source.piece(place.segment, place.number), places, slots, segments_ahead)
    cutter: PieceCutter | None = None
    rank = -1
    try:
        while (taken := await ahead.take()) is not None:
            place, piece = taken
            if place.rank != rank:
                if cutter is not None:
                    cutter.end()
                cutter, rank = PieceCutter(place.segment), place.rank
            assert cutter is not None
            wanted = piece[max(place.segment.first_byte - place.number * source.piece_bytes, 0) :]
            cuts = await loop.run_in_executor(workers, cutter.take, wanted)
            if cuts:
                yield cuts
        if cutter is not None:
            cutter.end()
    finally:
        ahead.close()


class PiecesAhead:
    """Pieces in order, some of them under way before they are taken."""

    def __init__(
        self,
        load: Callable[[Place], asyncio.Future[memoryview] | Coroutine[Any, Any, memoryview]],
        places: Iterator[Place],
        slots: asyncio.Semaphore,
        segments_ahead: int,
    ) -> None:
        self._load = load
        self._slots = slots
        self._segments_ahead = segments_ahead
        self._left = places
        self._next = next(self._left, None)
        self._under_way: deque[tuple[Place, asyncio.Future[memoryview]]] = deque()
        self._wanted = 1
        self._held = 0

    async def take(self) -> tuple[Place, memoryview] | None:
        """The next piece, None behind the last."""
        if self._held > len(self._under_way):  # the one taken before is used up
            self._release()
        if not self._under_way:
            if self._next is None:
                return None
            await self._start(self._next)
        place, task = self._under_way[0]
        piece = await task
        self._under_way.popleft()
        while self._may_go_ahead(place):
            assert self._next is not None
            await self._start(self._next)
        self._wanted = min(2 * self._wanted, _AHEAD_MAX)
        return place, piece

    def _may_go_ahead(self, current: Place) -> bool:
        return (
            self._next is not None
            and len(self._under_way) < self._wanted
            and self._next.rank < current.rank + self._segments_ahead
            and not self._slots.locked()
        )

    async def _start(self, place: Place) -> None:
        await self._slots.acquire()
        self._held += 1
        self._under_way.append((place, asyncio.ensure_future(self._load(place))))
        self._next = next(self._left, None)

    def _release(self) -> None:
        self._held -= 1
        self._slots.release()

    def close(self) -> None:
        """Stop what is under way."""
        for _, task in self._under_way:
            task.cancel()
            task.add_done_callback(_drop_failure)
        while self._held:
            self._release()


def _places(segments: Sequence[Segment], piece_bytes: int) -> Iterator[Place]:
    for rank, segment in enumerate(segments):
        for number in range(segment.first_byte // piece_bytes, -(-segment.size_bytes // piece_bytes)):
            yield Place(segment, rank, number)


def _drop_failure(task: asyncio.Future[memoryview]) -> None:
    """A failure that nobody waits for any more is no news."""
    if not task.cancelled():
        task.exception()
