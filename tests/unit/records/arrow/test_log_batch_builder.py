"""Batches as we write them: read by our own parser and by pyarrow, and equal to the official bytes where known."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from arrow_batches import EVERY_SHAPE, read_batch

from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.records.arrow.arrow_rows import rows_to_arrow
from lakeward.records.arrow.log_batch_builder import LogBatchBuilder, encode_rows
from lakeward.records.arrow.row_batches import records_of
from lakeward.records.batch.batch_header import HEADER_BYTES
from lakeward.records.batch.log_batch import cut_batches
from lakeward.records.batch.statistics import parse_statistics
from lakeward.records.ipc.arrow_message import NO_CODEC, read_message
from lakeward.records.row import compacted_row

SCHEMA = Schema.of(parse_columns("a INT, b STRING")[0])
ROWS = pa.record_batch({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})


@pytest.mark.parametrize("compression", ["NONE", "LZ4_FRAME", "ZSTD"])
def test_rows_of_every_shape_survive(compression: str) -> None:
    """Whatever the codec, pyarrow reads back the rows and the header says what it holds."""
    data = encode_rows(EVERY_SHAPE, compression).seal(3, writer_id=1001, sequence=7)
    (span,) = cut_batches(data)
    header = span.header
    assert (header.schema_id, header.writer_id, header.batch_sequence, header.record_count) == (3, 1001, 7, 3)
    assert (header.magic, header.append_only, header.last_offset_delta) == (0, True, 2)
    assert read_batch(bytes(data), EVERY_SHAPE.schema).equals(EVERY_SHAPE)


def test_a_slice_is_written_alone() -> None:
    """A slice of a large batch does not drag the rest along."""
    large = pa.record_batch({"n": pa.array(range(100_000), pa.int64())})
    data = encode_rows(large.slice(500, 10), "NONE").seal(1)
    assert len(data) < 1000
    assert read_batch(bytes(data), large.schema).column("n").to_pylist() == list(range(500, 510))


def test_rows_that_do_not_compress_are_written_all_the_same() -> None:
    """Random bytes swell a little when compressed; the batch is whole."""
    noise = pa.record_batch({"x": pa.array([os.urandom(1000) for _ in range(500)])})
    for compression in ("LZ4_FRAME", "ZSTD"):
        data = encode_rows(noise, compression).seal(1)
        cut_batches(data)
        assert read_batch(bytes(data), noise.schema).equals(noise)


def test_sealing_again_changes_the_header_alone() -> None:
    """A batch that goes again under another writer id is not encoded again."""
    rows = encode_rows(ROWS)
    first = bytes(rows.seal(1, writer_id=5, sequence=9))
    second = bytes(rows.seal(1, writer_id=6, sequence=0))
    assert cut_batches(second)[0].header.writer_id == 6
    assert first[48:] == second[48:]
    assert bytes(rows.seal(1, writer_id=5, sequence=9)) == first


def test_statistics_stand_before_the_rows() -> None:
    """Columns that were asked for get null count, minimum and maximum; such a batch has magic 1."""
    rows = LogBatchBuilder(SCHEMA, statistics=[0, 1]).encode(ROWS)
    data = rows.seal(1)
    (span,) = cut_batches(data)
    block = bytes(data[52 : 52 + span.header.statistics_length])
    parsed = parse_statistics(block, [c.type for c in SCHEMA.columns])
    assert span.header.magic == 1
    assert parsed is not None
    assert [(s.minimum, s.maximum, s.null_count) for s in parsed] == [(1, 2, 0), ("x", "x", 1)]
    assert read_batch(bytes(data), ROWS.schema).equals(ROWS)


def test_statistics_larger_than_the_schema_message_still_fit() -> None:
    """Long minima do not overwrite the rows."""
    wide = pa.record_batch({"a": pa.array([1], pa.int32()), "b": pa.array(["long " * 1000])})
    data = LogBatchBuilder(SCHEMA, statistics=[1]).encode(wide).seal(1)
    assert read_batch(bytes(data), wide.schema).equals(wide)


@pytest.mark.parametrize(
    ("log_format", "expected"),
    [
        ("INDEXED", "0b00000000000100000001000000780a00000000020000000002000000"),
        ("COMPACTED", "05000000000001017803000000000202"),
    ],
)
def test_row_formats_are_the_official_bytes(log_format: str, expected: str) -> None:
    """The worked examples of the format reference, byte for byte."""
    data = LogBatchBuilder(SCHEMA, log_format).encode(ROWS).seal(1, writer_id=1001, sequence=0)
    cut_batches(data)
    assert bytes(data[48:]).hex() == expected


def test_row_formats_are_read_back() -> None:
    """What the builder writes as rows, the row codec reads."""
    data = LogBatchBuilder(SCHEMA, "COMPACTED").encode(ROWS).seal(1)
    rows = [row for _, row in records_of(data[48:], 2)]
    codec = compacted_row.codec(tuple(c.type for c in SCHEMA.columns))
    assert rows_to_arrow(rows, SCHEMA, codec).to_pylist() == ROWS.to_pylist()


def test_a_few_bytes_are_not_compressed() -> None:
    """A row gains nothing from it; a message says by itself how it is stored, whatever the table's setting is."""
    batch = pa.record_batch({"id": pa.array([1], pa.int64()), "name": ["a"]})
    few, many = (encode_rows(b, "ZSTD") for b in (batch, pa.record_batch({"id": pa.array([7] * 1000)})))
    codecs = []
    for encoded in (few, many):
        sealed = encoded.seal(1)
        codecs.append(read_message(sealed, HEADER_BYTES[0], len(sealed)).codec)
    assert codecs[0] == NO_CODEC
    assert codecs[1] != NO_CODEC
