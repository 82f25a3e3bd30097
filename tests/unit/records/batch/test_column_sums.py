"""Sums of columns: what is written is read back, what is damaged is refused, what is not worth it has none."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch, ids_batch
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError
from lakeward.records.batch.column_sums import SumsBuilder, buffer_ends, read_sums, sums_bytes_max
from lakeward.records.batch.crc32c import checksum
from lakeward.records.batch.log_batch import walk_batches
from lakeward.records.ipc.arrow_message import read_message

SEGMENT = b"".join(bytes(ids_batch(range(start, start + 4000), base_offset=start)) for start in range(0, 12_000, 4000))


def sums_of(segment: bytes) -> bytes | None:
    """The file of sums that a segment gets."""
    builder = SumsBuilder(len(segment))
    for span in walk_batches(segment):
        builder.add(span.start, memoryview(segment)[span.start : span.end], span.header)
    return builder.to_bytes()


SUMS = sums_of(SEGMENT)
assert SUMS is not None


def test_heads_and_sums_are_those_of_the_batches() -> None:
    """Every batch is there, its head byte for byte, and each buffer's sum is that of its bytes."""
    found = read_sums(memoryview(SUMS), 0, 12_000, len(SEGMENT))
    assert [(one.position, one.end) for one in found] == [(s.start, s.end) for s in walk_batches(SEGMENT)]
    for one in found:
        batch = SEGMENT[one.position : one.end]
        assert batch.startswith(one.head)
        message = read_message(batch, one.header.header_bytes, len(batch))
        body = batch[message.body_at :]
        assert one.sums == tuple(checksum(body[start:stop]) for start, stop in pairwise(buffer_ends(message)))
    assert len(SUMS) <= sums_bytes_max(len(SEGMENT))


@given(st.integers(0, len(SUMS) - 1), st.integers(1, 255))
def test_any_wrong_byte_is_refused(at: int, flip: int) -> None:
    """Nothing of a damaged file is believed."""
    damaged = bytearray(SUMS)
    damaged[at] ^= flip
    with pytest.raises(CorruptError):
        read_sums(memoryview(bytes(damaged)), 0, 12_000, len(SEGMENT))


@pytest.mark.parametrize("length", [0, 3, 16, len(SUMS) - 1])
def test_a_file_that_is_cut_off_is_refused(length: int) -> None:
    """However short."""
    with pytest.raises(CorruptError):
        read_sums(memoryview(SUMS[:length]), 0, 12_000, len(SEGMENT))


@pytest.mark.parametrize(("start", "end", "more"), [(1, 12_000, 0), (0, 11_999, 0), (0, 12_000, 1)])
def test_a_file_of_another_segment_is_refused(start: int, end: int, more: int) -> None:
    """Offsets and size must be those that the server told."""
    with pytest.raises(CorruptError):
        read_sums(memoryview(SUMS), start, end, len(SEGMENT) + more)


def test_small_batches_have_no_sums() -> None:
    """They would take more than the sums save."""
    small = b"".join(bytes(ids_batch([i], base_offset=i)) for i in range(200))
    assert sums_of(small) is None


def test_changes_and_other_formats_have_no_sums() -> None:
    """Their batches are read whole."""
    rows = pa.record_batch({"id": pa.array(range(4000), pa.int64())})
    assert sums_of(bytes(arrow_batch(rows, change_types=bytes(4000)))) is None
    other = bytearray(SEGMENT)
    other[52:56] = b"rows"
    assert sums_of(bytes(other)) is None
    assert sums_of(b"") is None
