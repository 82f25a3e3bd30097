"""Batch headers: the three versions, against the bytes that official writers send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.records.batch.batch_header import (
    BATCH_V0,
    BATCH_V1,
    BATCH_V2,
    CRC_AT,
    BatchHeader,
    read_header,
    write_header,
)

VECTORS = json.loads((Path(__file__).parents[3] / "data" / "vectors.json").read_text())["log_batches"]
i8, i16, i32, i64 = (st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_headers_of_official_writers_are_read(vector: dict) -> None:
    """Every field of a header written by the official client or the Java classes is found."""
    wanted = vector["decoded"]
    header = read_header(bytes.fromhex(vector["hex"]))
    assert header.crc == int(wanted["crc"], 16)
    assert header.commit_timestamp_ms == wanted["commit_timestamp"]
    assert header.header_bytes == wanted["header_size"]
    assert header.size == len(vector["hex"]) // 2
    for name in ("base_offset", "length", "magic", "schema_id", "attributes", "last_offset_delta"):
        assert getattr(header, name) == wanted[name]
    for name in ("writer_id", "batch_sequence", "record_count"):
        assert getattr(header, name) == wanted[name]
    assert header.statistics_length == wanted.get("statistics_length", 0)
    assert header.append_only == bool(wanted["attributes"] & 1)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_headers_are_written_as_they_were_read(vector: dict) -> None:
    """Reading and writing a header changes no byte."""
    data = bytes.fromhex(vector["hex"])
    header = read_header(data)
    assert write_header(header) == data[: header.header_bytes]


@given(st.integers(0, 2), st.tuples(i64, i32, i64, st.integers(0, 2**32 - 1), i16, i8, i32, i64, i32, i32), i32, i32)
def test_any_header_makes_the_round_trip(magic: int, values: tuple, statistics: int, epoch: int) -> None:
    """All versions keep the full width of each field."""
    offset, length, time_ms, crc, *rest = values
    statistics, epoch = (statistics if magic else 0), (epoch if magic == 2 else -1)
    header = BatchHeader(offset, length, magic, time_ms, crc, *rest, statistics, epoch)
    assert read_header(b"??" + write_header(header), 2) == header


def test_what_the_server_writes_stands_before_the_checksum() -> None:
    """Offset and commit time can be stamped without a new checksum, in every version."""
    for layout, crc_at in zip((BATCH_V0, BATCH_V1, BATCH_V2), CRC_AT, strict=True):
        assert layout.offset("base_offset") < crc_at
        assert layout.offset("commit_timestamp_ms") < crc_at
        assert layout.offset("schema_id") == crc_at + 4


def test_the_last_offset_counts_from_the_first() -> None:
    """A batch of ten rows that starts at 100 ends at 109."""
    header = BatchHeader(100, 0, 0, 0, 0, 1, 1, 9, -1, -1, 10)
    assert header.last_offset == 109
