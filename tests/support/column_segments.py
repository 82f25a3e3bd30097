"""A segment of large batches with the sums of its columns, and a source that has it in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from arrow_batches import arrow_batch
from fake_cluster import table_info

from lakeward.client.remote.segment import Segment
from lakeward.records.batch.column_sums import BatchSums, SumsBuilder, read_sums
from lakeward.records.batch.log_batch import walk_batches

INFO = table_info("a BIGINT, b BIGINT, c BIGINT, d BIGINT, e DOUBLE, f STRING")
BATCH_ROWS = 1000


def rows_between(start: int, stop: int) -> pa.Table:
    """The rows of some offsets."""
    numbers = np.arange(start, stop)
    columns = [numbers, numbers * 3, numbers * 5, numbers * 7, numbers * 0.5]
    names = pa.array([None if n % 7 == 0 else f"row {n}" for n in numbers])
    return pa.table([*map(pa.array, columns), names], names=["a", "b", "c", "d", "e", "f"])


@dataclass(frozen=True)
class MadeSegment:
    """A segment: its bytes, its sums, and what a server says of it."""

    told: Segment
    data: bytes
    sums_file: bytes

    @property
    def sums(self) -> list[BatchSums]:
        """The sums, read."""
        told = self.told
        return read_sums(memoryview(self.sums_file), told.start_offset, told.end_offset, told.size_bytes)


def made_segment(start: int, stop: int, name: str = "u", codec: str | None = None) -> MadeSegment:
    """A segment of these offsets."""
    made = [
        bytes(arrow_batch(rows_between(at, at + BATCH_ROWS).combine_chunks().to_batches()[0], codec, base_offset=at))
        for at in range(start, stop, BATCH_ROWS)
    ]
    data = b"".join(made)
    builder = SumsBuilder(len(data))
    for span in walk_batches(data):
        builder.add(span.start, memoryview(data)[span.start : span.end], span.header)
    sums = builder.to_bytes()
    assert sums is not None
    return MadeSegment(Segment("s3://bucket/log", f"{name}/{start:020d}.log", start, stop, len(data)), data, sums)


SEGMENT = made_segment(0, 5000)
SUMS = SEGMENT.sums_file


class ColumnSource:
    """Segments in memory, by name; `datas` and `sums` may be changed to damage them."""

    piece_bytes = 10_000
    gap_bytes = 0
    batch_bytes_min = 0

    def __init__(self, *segments: MadeSegment) -> None:
        self.datas = {one.told.name: one.data for one in segments}
        self.sums: dict[str, bytes | None] = {one.told.name: one.sums_file for one in segments}
        self.pieces = 0
        self.bytes = 0

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """A piece."""
        await asyncio.sleep(0)
        self.pieces += 1
        return memoryview(self.datas[segment.name])[number * self.piece_bytes : (number + 1) * self.piece_bytes]

    async def stretches(self, segment: Segment, places: Sequence[tuple[int, int]]) -> memoryview:
        """Some stretches."""
        await asyncio.sleep(0)
        found = b"".join(self.datas[segment.name][start:stop] for start, stop in places)
        self.bytes += len(found)
        return memoryview(found)

    async def columns(self, segment: Segment) -> memoryview | None:
        """The sums."""
        await asyncio.sleep(0)
        found = self.sums[segment.name]
        return None if found is None else memoryview(found)
