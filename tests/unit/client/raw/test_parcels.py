"""Batches of a chunk as parcels: which offsets they take, how they are numbered, what is left of them."""

from __future__ import annotations

import pytest
from raw_batches import raw_batch

from lakeward.client.decode.log_decoder import Chunk
from lakeward.client.raw.parcels import PARCEL_BYTES, GapParcel, LogParcel, gaps, log_parcels
from lakeward.errors import LakewardError
from lakeward.records.batch.batch_header import BatchHeader, write_header
from lakeward.records.batch.log_batch import EMPTY_OFFSETS_MAX, cut_batches, seal, walk_batches


def _chunk(*batches: bytes, to_offset: int | None = None) -> Chunk:
    return Chunk(memoryview(b"".join(batches)), 0, 0, to_offset, projected=False)


def _empty(base: int, delta: int) -> bytes:
    batch = bytearray(write_header(BatchHeader(base, 36, 0, 0, 0, 1, 1, delta, 5, 6, 0)))
    seal(batch)
    return bytes(batch)


def test_small_batches_travel_together_and_large_ones_alone() -> None:
    """Up to a size; none is cut."""
    small = [bytes(raw_batch(2, b"x" * 100, base_offset=2 * i)) for i in range(3)]
    large = bytes(raw_batch(1, b"y" * PARCEL_BYTES, base_offset=6))
    parcels = list(log_parcels(_chunk(*small, large), 0))
    assert [(p.first, p.end, p.batches, p.rows) for p in parcels] == [(0, 6, 3, 6), (6, 7, 1, 1)]


def test_what_is_there_already_is_left_out() -> None:
    """Whole batches before the next offset; an offset in the middle of one is refused."""
    chunk = _chunk(*(bytes(raw_batch(2, base_offset=2 * i)) for i in range(3)))
    (parcel,) = log_parcels(chunk, 4)
    assert (parcel.first, parcel.end) == (4, 6)
    with pytest.raises(LakewardError, match="in the middle of a batch"):
        list(log_parcels(chunk, 3))


def test_nothing_behind_the_end_of_a_round_is_taken() -> None:
    """A batch behind it may have a schema that the target has not got yet."""
    chunk = _chunk(*(bytes(raw_batch(2, base_offset=2 * i)) for i in range(3)), to_offset=4)
    assert [p.end for p in log_parcels(chunk, 0)] == [4]


def test_offsets_without_rows_become_gaps() -> None:
    """A jump between batches, and a batch without records that takes several."""
    chunk = _chunk(bytes(raw_batch(1, base_offset=10)), _empty(11, 4), bytes(raw_batch(1, base_offset=16)))
    found = [(type(p), p.first, p.end) for p in log_parcels(chunk, 0)]
    assert found == [
        (GapParcel, 0, 10),
        (LogParcel, 10, 11),
        (GapParcel, 11, 16),
        (LogParcel, 16, 17),
    ]


def test_an_empty_batch_of_one_offset_is_copied_as_it_is() -> None:
    """It is what a put of nothing leaves."""
    (parcel,) = log_parcels(_chunk(_empty(0, 0), bytes(raw_batch(1, base_offset=1))), 0)
    assert (parcel.batches, parcel.rows, parcel.end) == (2, 1, 2)


def test_a_sealed_parcel_is_numbered_and_sound() -> None:
    """Writer, numbers that follow each other even where they wrap, and checksums; nothing else has changed."""
    batches = [bytes(raw_batch(2, b"abc", writer_id=9, sequence=9, base_offset=2 * i)) for i in range(3)]
    (parcel,) = log_parcels(_chunk(*batches), 0)
    spans = cut_batches(parcel.seal(77, 2**31 - 2))
    assert [(s.header.writer_id, s.header.batch_sequence) for s in spans] == [(77, 2**31 - 2), (77, 2**31 - 1), (77, 0)]
    assert {s.header.record_count for s in spans} == {2}
    assert parcel.seal(9, 9)[: len(batches[0])] == batches[0]


def test_the_rest_of_a_parcel_begins_at_a_batch() -> None:
    """What the target has got before a failure is not sent again."""
    (parcel,) = log_parcels(_chunk(*(bytes(raw_batch(2, base_offset=2 * i)) for i in range(3))), 0)
    rest = parcel.behind(4)
    assert rest is not None
    assert (rest.first, rest.end, rest.batches) == (4, 6, 1)
    assert parcel.behind(6) is None


def test_a_gap_is_a_bare_header_that_servers_take() -> None:
    """Long ones are several; what is left of one goes on where the target is."""
    (one,) = gaps(0, 1000, 3)
    (span,) = cut_batches(one.seal(5, 0))
    assert (span.header.last_offset_delta, span.header.record_count, span.header.schema_id) == (999, 0, 3)
    several = list(gaps(5, 5 + 2 * EMPTY_OFFSETS_MAX + 1, 1))
    assert [(p.first, p.end) for p in several][-1] == (5 + 2 * EMPTY_OFFSETS_MAX, 6 + 2 * EMPTY_OFFSETS_MAX)
    rest = one.behind(400)
    assert rest is not None
    assert (rest.first, rest.end) == (400, 1000)
    assert one.behind(1000) is None
    assert next(walk_batches(several[0].seal(5, 0))).header.last_offset_delta == EMPTY_OFFSETS_MAX - 1
