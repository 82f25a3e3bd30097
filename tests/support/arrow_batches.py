"""Log batches of Arrow rows, written and read by pyarrow alone: a second opinion on our own bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

import pyarrow as pa

from lakeward.records.batch.batch_header import APPEND_ONLY, HEADER_BYTES, BatchHeader, read_header, write_header
from lakeward.records.batch.log_batch import seal, walk_batches


def arrow_message(rows: pa.RecordBatch, codec: str | None = None) -> bytes:
    """The rows as one encapsulated Arrow message, without the schema that a stream begins with."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        start = sink.tell()
        writer.write_batch(rows)
        end = sink.tell()
    stream = sink.getvalue().to_pybytes()
    schema_bytes = 8 + int.from_bytes(stream[4:8], "little")
    assert start in {0, schema_bytes}
    return stream[schema_bytes:end]


def arrow_batch(
    rows: pa.RecordBatch,
    codec: str | None = None,
    *,
    writer_id: int = -1,
    sequence: int = -1,
    schema_id: int = 1,
    magic: int = 0,
    statistics: bytes = b"",
    change_types: bytes | None = None,
    base_offset: int = 0,
) -> bytearray:
    """A sealed log batch; with change types it is a changelog batch."""
    count = rows.num_rows
    attributes = APPEND_ONLY if change_types is None else 0
    header = BatchHeader(
        base_offset,
        0,
        magic,
        0,
        0,
        schema_id,
        attributes,
        max(count - 1, 0),
        writer_id,
        sequence,
        count,
        len(statistics),
    )
    batch = bytearray(write_header(header) + statistics + (change_types or b"") + arrow_message(rows, codec))
    seal(batch)
    return batch


def ids_batch(ids: Iterable[int], codec: str | None = None, **header: int) -> bytearray:
    """A batch of a table with one BIGINT column."""
    return arrow_batch(pa.record_batch({"id": pa.array(ids, pa.int64())}), codec, **header)


def read_rows(data: bytes | bytearray | memoryview, schema: pa.Schema) -> list[dict]:
    """All rows of all batches in a fetched payload, read by pyarrow."""
    rows = []
    for span in walk_batches(data):
        batch = bytes(memoryview(data)[span.start : span.end])
        rows += read_batch(batch, schema).to_pylist()
    return rows


def read_batch(batch: bytes | bytearray, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of one log batch."""
    header = read_header(batch)
    at = HEADER_BYTES[header.magic] + header.statistics_length
    at += 0 if header.append_only else header.record_count
    return pa.ipc.read_record_batch(pa.py_buffer(bytes(batch[at:])), schema)


#: One column of each shape that Arrow knows, nested ones included, with nulls at every level.
EVERY_SHAPE = pa.record_batch(
    {
        "flag": pa.array([True, None, False], pa.bool_()),
        "tiny": pa.array([1, None, -128], pa.int8()),
        "big": pa.array([2**62, None, -1], pa.int64()),
        "double": pa.array([1.5, None, -0.0], pa.float64()),
        "text": pa.array(["a", None, "längere Worte " * 9], pa.string()),
        "bytes": pa.array([b"\x00", None, b"\xff" * 70], pa.binary()),
        "fixed": pa.array([b"abcd", None, b"\x00\x00\x00\x00"], pa.binary(4)),
        "decimal": pa.array([Decimal("1.50"), None, Decimal("-99999999.99")], pa.decimal128(10, 2)),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 12, 31)], pa.date32()),
        "time": pa.array([dt.time(1, 2, 3), None, dt.time(23, 59, 59)], pa.time32("ms")),
        "instant": pa.array([0, None, -1], pa.timestamp("us", "UTC")),
        "list": pa.array([[1, None], None, []], pa.list_(pa.int32())),
        "map": pa.array([[("k", 1), ("l", None)], None, []], pa.map_(pa.string(), pa.int64())),
        "row": pa.array(
            [{"a": 1, "b": ["x", None]}, None, {"a": None, "b": None}],
            pa.struct([("a", pa.int16()), ("b", pa.list_(pa.string()))]),
        ),
        "last": pa.array([7, 8, 9], pa.int32()),
    }
)
