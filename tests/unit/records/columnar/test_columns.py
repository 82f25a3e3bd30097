"""Columns as Arrow messages, written and read without an Arrow library."""

from __future__ import annotations

import contextlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import brisk, encoded, guarded, schema_of, tables
from row_strategies import unhurried

from lakeward.errors import CorruptError, LakewardError
from lakeward.model.data_types import ARRAY, BIGINT, INT, MAP, ROW, STRING
from lakeward.records.arrow.arrow_row_kernels import arrow_of_columns, arrow_of_rows
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.columnar.columns import null_count, places_of, read_columns, select, write_message
from lakeward.records.columnar.row_kernels import RowForm, decode_rows, encode_rows
from lakeward.records.ipc.buffer_codecs import codec_of
from lakeward.records.kernels.spans import Spans

TYPES = (INT(), STRING(), BIGINT())
CODECS = ["NONE", "LZ4_FRAME", "ZSTD"]


def message_of(types, rows, codec: str = "NONE") -> bytearray:
    """Rows as an Arrow message."""
    message = bytearray()
    write_message(decode_rows(Spans.of(encoded(RowForm.COMPACTED, types, rows)), types), codec_of(codec), message)
    return message


@pytest.mark.parametrize("codec", CODECS)
@brisk
@given(table=tables())
def test_arrow_reads_what_is_written_and_writes_what_is_read(codec: str, table) -> None:
    """Messages go both ways between us and pyarrow, whatever types and compression."""
    types, lines = table
    lines = lines * 15  # so that there is something to compress
    schema = schema_of(types)
    message = message_of(types, lines, codec)
    batch = pa.ipc.read_record_batch(pa.py_buffer(bytes(message)), arrow_schema(schema))
    batch.validate(full=True)
    assert batch.equals(arrow_of_rows(Spans.of(encoded(RowForm.COMPACTED, types, lines)), schema))
    options = pa.ipc.IpcWriteOptions(compression={"NONE": None, "LZ4_FRAME": "lz4", "ZSTD": "zstd"}[codec])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    stream = sink.getvalue().to_pybytes()
    begin = 8 + int.from_bytes(stream[4:8], "little")
    columns = read_columns(stream, begin, len(stream), types)
    assert arrow_of_columns(columns, schema).equals(batch)


def test_small_messages_are_not_compressed() -> None:
    """Lengths before tiny buffers would only make the message longer."""
    lines = [(1, "x", None)]
    assert message_of(TYPES, lines, "ZSTD") == message_of(TYPES, lines)


def test_large_messages_shrink() -> None:
    """Compression is there to save space."""
    lines = [(i % 3, "text", i) for i in range(1000)]
    for codec in ("ZSTD", "LZ4_FRAME"):
        assert len(message_of(TYPES, lines, codec)) < 0.6 * len(message_of(TYPES, lines))


def test_buffers_are_aligned() -> None:
    """Every buffer begins at a multiple of 8, as readers expect."""
    message = message_of(TYPES, [(1, "abc", 2), (None, "d", 3)])
    columns = read_columns(message, 0, len(message), TYPES)
    assert all(at % 8 == 0 for at in columns.buffers[::2])


def test_columns_are_chosen_without_copying() -> None:
    """Any order, nested columns with all their parts."""
    types = (INT(), ROW([("a", INT()), ("b", ARRAY(STRING()))]), MAP(STRING(), INT()), BIGINT())
    rows = [(1, (2, ("x", None)), (("k", 3),), 4), (None, None, None, None)]
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, types, rows)), types)
    chosen = select(columns, types, [3, 1])
    assert chosen.body is columns.body
    expected = encoded(RowForm.COMPACTED, [types[3], types[1]], [(r[3], r[1]) for r in rows])
    assert encode_rows(chosen, [types[3], types[1]])[0].tobytes() == b"".join(expected)
    assert [null_count(columns, types, i) for i in range(4)] == [1, 1, 1, 1]
    assert places_of(types).nodes[-1] * 2 == len(columns.nodes)
    assert places_of(types).buffers[-1] * 2 == len(columns.buffers)


def test_a_message_of_other_columns_is_refused() -> None:
    """The schema says how many nodes and buffers there are."""
    message = message_of(TYPES, [(1, "x", 2)])
    for wrong in ((INT(),), (*TYPES, INT()), ()):
        with pytest.raises(CorruptError, match="other columns"):
            read_columns(message, 0, len(message), wrong)


@pytest.mark.parametrize("codec", CODECS)
@unhurried
@given(data=st.data())
def test_damaged_messages_are_columns_or_corrupt(codec: str, data) -> None:
    """A message that lies about itself is refused, and nothing outside it is read."""
    message = message_of(TYPES, [(i, f"name {i % 5}", i * i) for i in range(200)], codec)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, 400) | st.integers(0, len(message) - 1))
        message[place] = data.draw(st.integers(0, 255) | st.sampled_from([0xFF, 0x7F, 0x80]))
    with guarded(bytes(message)) as memory, contextlib.suppress(LakewardError):
        encode_rows(read_columns(memory.data, 0, len(memory), TYPES), TYPES)
