"""Columns are a quicker way to the same rows: whatever is missing or damaged, never to others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import replace

import pyarrow as pa
import pytest
from column_segments import INFO, ColumnSource, MadeSegment, made_segment, rows_between
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.remote.history_reader import HistoryReader
from lakeward.client.remote.segment import Segment
from lakeward.errors import CorruptError
from lakeward.records.batch.predicate import Function, Leaf

A, B, C = made_segment(0, 5000, "a"), made_segment(5000, 9000, "b", "zstd"), made_segment(9000, 12_000, "c")
ALL = (A, B, C)
COLUMNS = ["f", "b"]


@pytest.fixture(scope="module")
def workers() -> Iterator[ThreadPoolExecutor]:
    """Threads."""
    with ThreadPoolExecutor(2) as made:
        yield made


async def read(
    source: ColumnSource,
    workers: ThreadPoolExecutor,
    segments: Sequence[Segment] = tuple(one.told for one in ALL),
    columns: list[str] | None = None,
    end_offset: int | None = None,
    from_offset: int = 0,
) -> pa.Table:
    """The rows, as a scan decodes them."""
    decoder = LogDecoder(INFO, columns or COLUMNS)
    slots = asyncio.Semaphore(16)
    reader = HistoryReader(source, slots, workers, 4, decoder, end_offset=end_offset)
    found: list[pa.RecordBatch] = []
    async with aclosing(reader.read(segments)) as reading:
        async for cuts in reading:
            for cut in cuts:
                chunk = Chunk(cut.records, 0, from_offset, end_offset, cut.projected, unfiltered=True)
                found += decoder.decode(chunk)
                from_offset = cut.last.last_offset + 1
    assert slots._value == 16
    return pa.Table.from_batches(found, decoder.schema)


def expected(start: int = 0, stop: int = 12_000, columns: list[str] | None = None) -> pa.Table:
    """What must come out."""
    return rows_between(start, stop).select(columns or COLUMNS)


async def test_rows_of_some_columns_are_the_same_as_of_all(workers: ThreadPoolExecutor) -> None:
    """All rows, in order, and not one piece is got whole."""
    source = ColumnSource(*ALL)
    assert (await read(source, workers)).equals(expected())
    assert source.pieces == 0
    assert source.bytes < sum(len(one.data) for one in ALL) / 2


@pytest.mark.parametrize("without", [A, B, C], ids="abc")
async def test_segments_without_sums_are_read_whole(workers: ThreadPoolExecutor, without: MadeSegment) -> None:
    """Those of Apache Fluss, and those that an older server copied, among others."""
    source = ColumnSource(*ALL)
    source.sums[without.told.name] = None
    assert (await read(source, workers)).equals(expected())
    assert source.pieces == -(-len(without.data) // source.piece_bytes)


async def test_small_batches_are_read_whole(workers: ThreadPoolExecutor) -> None:
    """A source says from which size on columns are worth a call."""
    source = ColumnSource(*ALL)
    source.batch_bytes_min = 1 << 20
    assert (await read(source, workers)).equals(expected())
    assert source.bytes == 0


async def test_all_columns_do_not_ask_for_sums(workers: ThreadPoolExecutor) -> None:
    """Whole rows are read as ever."""
    source = ColumnSource(*ALL)
    source.sums.clear()
    assert (await read(source, workers, columns=INFO.schema.names)).equals(expected(columns=INFO.schema.names))


async def test_a_scan_from_the_middle_to_the_middle(workers: ThreadPoolExecutor) -> None:
    """It begins at the server's byte and gets nothing behind the batch of its end."""
    source = ColumnSource(*ALL)
    first = replace(A.told, first_byte=A.sums[2].position)
    found = await read(source, workers, [first, B.told], end_offset=6500, from_offset=2500)
    assert found.equals(expected(2500, 6500))


async def test_a_filter_leaves_out_what_the_decoder_would(workers: ThreadPoolExecutor) -> None:
    """Batches without statistics are never left out."""
    decoder = LogDecoder(INFO, COLUMNS, where=Leaf("b", Function.LESS_THAN, (10,)))
    source = ColumnSource(A)
    reader = HistoryReader(source, asyncio.Semaphore(16), workers, 4, decoder)
    got = [cut async for cuts in reader.read([A.told]) for cut in cuts]
    assert sum(b.num_rows for c in got for b in decoder.decode(Chunk(c.records, 0, 0, None, c.projected))) == 5000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.sampled_from(ALL), st.data())
def test_damage_never_becomes_rows(workers: ThreadPoolExecutor, bad: MadeSegment, data: st.DataObject) -> None:
    """A wrong byte anywhere in a segment: the rows are right, or the scan ends with an error."""
    source = ColumnSource(*ALL)
    damaged = bytearray(bad.data)
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    source.datas[bad.told.name] = bytes(damaged)
    with suppress(CorruptError):
        assert asyncio.run(read(source, workers)).equals(expected())


async def test_damage_is_told_as_of_whole_batches(workers: ThreadPoolExecutor) -> None:
    """Who meets it hears of the batch, not of a column."""
    source = ColumnSource(*ALL)
    damaged = bytearray(A.data)
    column_b = A.sums[1].position + len(A.sums[1].head) + 8 * 1000 + 500
    damaged[column_b] ^= 1
    source.datas[A.told.name] = bytes(damaged)
    with pytest.raises(CorruptError, match=r"offsets 1000 to 1999.*wrong CRC"):
        await read(source, workers)


async def test_damage_of_columns_that_nobody_wants_is_not_met(workers: ThreadPoolExecutor) -> None:
    """As little as damage in a segment that nobody reads."""
    source = ColumnSource(*ALL)
    damaged = bytearray(A.data)
    damaged[A.sums[1].position + len(A.sums[1].head) + 500] ^= 1
    source.datas[A.told.name] = bytes(damaged)
    assert (await read(source, workers)).equals(expected())


@pytest.mark.parametrize("what", ["byte", "short", "other"])
async def test_damaged_sums_are_not_believed(workers: ThreadPoolExecutor, what: str) -> None:
    """Then the segment is read whole, and its rows are right."""
    source = ColumnSource(*ALL)
    broken = bytearray(A.sums_file)
    broken[40] ^= 1
    source.sums[A.told.name] = {"byte": bytes(broken), "short": A.sums_file[:-1], "other": C.sums_file}[what]
    assert (await read(source, workers)).equals(expected())
    assert source.pieces == -(-len(A.data) // source.piece_bytes)


async def test_a_segment_that_became_shorter_is_told(workers: ThreadPoolExecutor) -> None:
    """Rows are never left out silently."""
    source = ColumnSource(*ALL)
    source.datas[C.told.name] = C.data[:-1000]
    with pytest.raises(CorruptError):
        await read(source, workers)
