"""Segments read by columns where that is cheaper, whole where it is not, or where it cannot be trusted.

A segment whose sums or columns are not what they should be is read whole from there on, which tells what is wrong with
it: columns are a quicker way to the same rows, never to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from lakeward.client.remote.column_plan import Unit, plan_units
from lakeward.client.remote.piece_cutter import Cut
from lakeward.client.remote.segment import Segment
from lakeward.client.remote.segment_reader import PiecesAhead, PieceSource, Place, read_segments
from lakeward.errors import CorruptError
from lakeward.records.batch.column_sums import read_sums

if TYPE_CHECKING:
    from lakeward.client.decode.log_decoder import LogDecoder


class _NotAsWrittenError(Exception):
    """What came of a segment's columns is not what was written; `rest` is to be read whole."""

    def __init__(self, rank: int, rest: Segment) -> None:
        self.rank = rank
        self.rest = rest


class HistoryReader:
    """Reads segments for one bucket of a scan; a decoder says which columns it wants, None wants whole rows."""

    def __init__(
        self,
        source: PieceSource,
        slots: asyncio.Semaphore,
        workers: Executor,
        segments_ahead: int,
        decoder: LogDecoder | None = None,
        *,
        end_offset: int | None = None,
        check_crc: bool = True,
    ) -> None:
        self._source = source
        self._slots = slots
        self._workers = workers
        self._segments_ahead = segments_ahead
        self._decoder = decoder if decoder is not None and decoder.projection else None
        self._end_offset = end_offset
        self._check_crc = check_crc

    async def read(self, segments: Sequence[Segment]) -> AsyncGenerator[list[Cut], None]:
        """The batches of segments, in order, as they come; close it to stop what is under way."""
        left, ahead = list(segments), 1 if self._decoder else len(segments)
        while left:
            plans = await asyncio.gather(*(self._plan(segment) for segment in left[:ahead]))
            by_columns = [plan for plan in takewhile(lambda plan: plan is not None, plans) if plan is not None]
            count = len(by_columns) or len(list(takewhile(lambda plan: plan is None, plans)))
            group, left = left[:count], left[count:]
            ahead = max(min(2 * ahead, self._segments_ahead), 1)
            try:
                reading = self._columns(group, by_columns) if by_columns else self._whole(group)
                async with aclosing(reading) as cuts:
                    async for some in cuts:
                        yield some
            except _NotAsWrittenError as wrong:
                async with aclosing(self._whole([wrong.rest])) as cuts:
                    async for some in cuts:
                        yield some
                left = group[wrong.rank + 1 :] + left

    def _whole(self, segments: Sequence[Segment]) -> AsyncGenerator[list[Cut], None]:
        return read_segments(self._source, segments, self._slots, self._workers, self._segments_ahead)

    async def _plan(self, segment: Segment) -> list[Unit] | None:
        if self._decoder is None or segment.size_bytes <= self._source.piece_bytes:
            return None  # one call has all of it
        sums = await self._source.columns(segment)
        if sums is None:
            return None
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._units, segment, sums)

    def _units(self, segment: Segment, sums: memoryview) -> list[Unit] | None:
        assert self._decoder is not None
        try:
            batches = read_sums(sums, segment.start_offset, segment.end_offset, segment.size_bytes)
            if segment.size_bytes < self._source.batch_bytes_min * len(batches):
                return None
            return plan_units(segment, batches, self._decoder, self._source.gap_bytes, self._end_offset)
        except CorruptError:
            return None

    async def _columns(
        self, segments: Sequence[Segment], plans: Sequence[list[Unit]]
    ) -> AsyncGenerator[list[Cut], None]:
        loop = asyncio.get_running_loop()
        places = [Place(segments[rank], rank, number) for rank, plan in enumerate(plans) for number in range(len(plan))]

        def load(place: Place) -> asyncio.Future[memoryview]:
            unit = plans[place.rank][place.number]
            return asyncio.ensure_future(self._source.stretches(place.segment, unit.places))

        ahead = PiecesAhead(load, iter(places), self._slots, self._segments_ahead)
        try:
            while (taken := await ahead.take()) is not None:
                place, data = taken
                unit = plans[place.rank][place.number]
                try:
                    cut = await loop.run_in_executor(self._workers, self._assemble, unit, data)
                except CorruptError as wrong:
                    rest = replace(place.segment, first_byte=unit.position, first_offset=unit.offset)
                    raise _NotAsWrittenError(place.rank, rest) from wrong
                yield [cut]
        finally:
            ahead.close()

    def _assemble(self, unit: Unit, data: memoryview) -> Cut:
        return unit.assemble(data, check_crc=self._check_crc)
