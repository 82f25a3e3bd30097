"""Cutting, checking and stamping batches in a buffer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from raw_batches import raw_batch

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.batch_header import BATCH_V0, BATCH_V1, MAGIC_AT, read_header
from lakeward.records.batch.log_batch import crc_is_right, cut_batches, seal, stamp, walk_batches

VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[3] / "data" / "vectors.json").read_text())["log_batches"]
    if v["decoded"]["crc_ok"]
]


def refused(data: bytes | bytearray) -> bool:
    """Whether a payload is refused with the code that clients know for damage."""
    with pytest.raises(LakewardError) as caught:
        cut_batches(data)
    return caught.value.code is ErrorCode.CORRUPT_RECORD


def put(batch: bytearray, at: int, value: int) -> None:
    """Write a number over a field."""
    batch[at : at + 4] = value.to_bytes(4, "little", signed=True)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_batches_of_official_writers_are_accepted(vector: dict) -> None:
    """What the official client or the Java classes wrote passes every check."""
    data = bytes.fromhex(vector["hex"])
    (span,) = cut_batches(data)
    assert (span.start, span.end) == (0, len(data))
    assert span.header.record_count == vector["decoded"]["record_count"]


def test_a_payload_may_hold_several_batches() -> None:
    """Batches of any version are cut one after the other, none left out."""
    batches = [raw_batch(1), raw_batch(5, b"x" * 99, magic=1, statistics=b"st"), raw_batch(2, magic=2)]
    spans = cut_batches(b"".join(batches))
    assert [s.header.record_count for s in spans] == [1, 5, 2]
    assert [s.end - s.start for s in spans] == [len(b) for b in batches]


def test_an_empty_payload_is_refused() -> None:
    """An append of nothing is no append."""
    assert refused(b"")


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_every_flipped_byte_is_noticed(magic: int) -> None:
    """Length, version, checksum and all after it are guarded; only what the server stamps is not."""
    batch = raw_batch(3, b"some rows", magic=magic, statistics=b"ab" if magic else b"")
    stamped = {*range(8), *range(13, 25 if magic == 2 else 21)}  # offset, commit time, leader epoch
    for place in set(range(len(batch))) - stamped:
        damaged = bytearray(batch)
        damaged[place] ^= 0x10
        assert refused(damaged), place


def test_every_cut_is_noticed() -> None:
    """A payload that ends inside a batch is refused as a whole, also behind a good batch."""
    batch = raw_batch(3, b"some rows")
    for size in range(1, len(batch)):
        assert refused(batch[:size])
        assert refused(batch + batch[:size])


def test_an_unknown_version_is_refused() -> None:
    """A version from the future is not guessed at."""
    batch = raw_batch()
    batch[MAGIC_AT] = 3
    assert refused(batch)


@pytest.mark.parametrize("length", [-1, 0, 35, 2**31 - 1, -(2**31)])
def test_a_length_that_cannot_be_is_refused(length: int) -> None:
    """A length shorter than the header, negative or far behind the end does not move the reader."""
    batch = raw_batch()
    put(batch, BATCH_V0.offset("length"), length)
    assert refused(batch)


@pytest.mark.parametrize(("rows", "delta"), [(2, 0), (2, 2), (0, 1), (-1, 0), (1, -1), (2**31 - 1, 0)])
def test_offsets_that_do_not_fit_the_rows_are_refused(rows: int, delta: int) -> None:
    """A batch takes as many offsets as it has rows, at least one: offsets stay dense."""
    batch = raw_batch()
    put(batch, BATCH_V0.offset("last_offset_delta"), delta)
    put(batch, BATCH_V0.offset("record_count"), rows)
    seal(batch)
    assert refused(batch)


@pytest.mark.parametrize(("delta", "fits"), [(0, True), (999, True), (2**30 - 1, True), (2**30, False), (-1, False)])
def test_a_bare_header_may_take_many_offsets(delta: int, fits: bool) -> None:
    """So a copy has the offsets of a log whose first rows are gone; a segment must be able to count them."""
    batch = raw_batch(0, b"")
    put(batch, BATCH_V0.offset("last_offset_delta"), delta)
    put(batch, BATCH_V0.offset("record_count"), 0)
    seal(batch)
    if fits:
        assert cut_batches(batch)[0].header.last_offset == delta
    else:
        assert refused(batch)


@pytest.mark.parametrize("size", [-1, 4, 2**31 - 1])
def test_statistics_that_do_not_fit_are_refused(size: int) -> None:
    """Statistics must lie inside their batch."""
    batch = raw_batch(1, b"row", magic=1)
    put(batch, BATCH_V1.offset("statistics_length"), size)
    seal(batch)
    assert refused(batch)


def test_a_stamp_changes_neither_rows_nor_checksum() -> None:
    """Offset and time are written in place; the batch still passes all checks."""
    batch = raw_batch(4)
    before = bytes(batch[21:])
    stamp(batch, 0, 1234567890123, 1700000000000)
    header = read_header(batch)
    assert (header.base_offset, header.last_offset, header.commit_timestamp_ms) == (
        1234567890123,
        1234567890126,
        1700000000000,
    )
    assert batch[21:] == before
    assert cut_batches(batch)


def test_walking_stops_quietly_at_a_cut_tail() -> None:
    """A reader gets the whole batches of an answer whose last one is cut off."""
    data = raw_batch(1) + raw_batch(2) + raw_batch(3)[:-1]
    assert [s.header.record_count for s in walk_batches(data)] == [1, 2]
    assert not list(walk_batches(b""))
    assert [s.header.record_count for s in walk_batches(data, len(raw_batch(1)))] == [2]


def test_walking_does_not_check_sums() -> None:
    """Projected batches carry a stale checksum, and are walked all the same."""
    batch = raw_batch(1)
    batch[-1] ^= 1
    (span,) = walk_batches(batch)
    assert not crc_is_right(batch, span)
