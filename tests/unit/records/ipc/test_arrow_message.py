"""Reading and writing Arrow messages without an Arrow library, with pyarrow as the judge."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import EVERY_SHAPE, arrow_message
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError
from lakeward.model import data_types as t
from lakeward.records.arrow.arrow_types import data_type
from lakeward.records.batch.batch_header import read_header
from lakeward.records.ipc.arrow_message import NO_CODEC, column_shape, read_message, template

VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[3] / "data" / "vectors.json").read_text())["log_batches"]
    if v["log_format"] == "ARROW" and isinstance(v.get("arrow"), dict) and v["decoded"]["record_count"]
]
CODECS = {"none": NO_CODEC, "LZ4_FRAME": 0, "ZSTD": 1}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_messages_of_official_writers_are_read(vector: dict) -> None:
    """Rows, nodes, buffers, codec and body of messages by the Rust and Java writers are found."""
    data = bytes.fromhex(vector["hex"])
    header = read_header(data)
    at = header.header_bytes + header.statistics_length + (0 if header.append_only else header.record_count)
    message = read_message(data, at, len(data))
    wanted = vector["arrow"]
    nodes = struct.unpack_from(f"<{2 * message.node_count}q", data, message.nodes_at)
    assert [list(pair) for pair in zip(nodes[0::2], nodes[1::2], strict=True)] == wanted["nodes"]
    assert [list(p) for p in zip(message.buffers[0::2], message.buffers[1::2], strict=True)] == wanted["buffers"]
    assert (message.rows, message.body_bytes) == (wanted["rows"], wanted["body_length"])
    assert message.codec == CODECS[wanted["compression"]]
    assert message.body_at == at + 8 + wanted["metadata_length_field"]


@pytest.mark.parametrize(("codec", "number"), [(None, NO_CODEC), ("lz4", 0), ("zstd", 1)])
def test_every_column_shape_has_the_nodes_and_buffers_that_arrow_writes(codec: str | None, number: int) -> None:
    """What we compute from a column type is what pyarrow lays out, for flat and nested columns."""
    for column in EVERY_SHAPE.schema:
        data = arrow_message(EVERY_SHAPE.select([column.name]), codec)
        message = read_message(data, 0, len(data))
        assert (message.node_count, len(message.buffers) // 2) == column_shape(data_type(column.type)), column.name
        assert (message.rows, message.codec) == (3, number)


def test_text_takes_three_buffers_and_fixed_bytes_two() -> None:
    """CHAR is stored like STRING, BINARY(n) is not stored like BYTES."""
    assert column_shape(t.CHAR(3)) == column_shape(t.STRING()) == column_shape(t.BYTES()) == (1, 3)
    assert column_shape(t.BINARY(3)) == column_shape(t.DECIMAL(38, 0)) == column_shape(t.BOOLEAN()) == (1, 2)


@pytest.mark.parametrize("codec", [NO_CODEC, 0, 1])
@pytest.mark.parametrize("counts", [(0, 0), (1, 2), (3, 7), (40, 90)])
def test_a_template_is_read_back(counts: tuple[int, int], codec: int) -> None:
    """The metadata we write has its numbers where we say they are."""
    nodes, buffers = counts
    shape = template(nodes, buffers, codec)
    data = bytearray(shape.data) + bytes(64)
    struct.pack_into("<q", data, shape.rows_at, 12)
    struct.pack_into("<q", data, shape.body_bytes_at, 64)
    struct.pack_into(f"<{2 * buffers}q", data, shape.buffers_at, *range(2 * buffers))
    message = read_message(data, 0, len(data))
    assert (message.rows, message.codec, message.node_count) == (12, codec, nodes)
    assert message.buffers == tuple(range(2 * buffers))
    assert not nodes or message.nodes_at == shape.nodes_at
    assert (message.body_at, message.body_bytes) == (len(shape.data), 64)
    assert len(shape.data) % 8 == 0


def test_a_template_is_a_message_to_pyarrow() -> None:
    """A foreign reader, which verifies flatbuffers, accepts the metadata we write."""
    shape = template(1, 2, NO_CODEC)
    data = bytearray(shape.data) + struct.pack("<2q", 5, -7)
    struct.pack_into("<q", data, shape.rows_at, 2)
    struct.pack_into("<q", data, shape.body_bytes_at, 16)
    struct.pack_into("<2q", data, shape.nodes_at, 2, 0)
    struct.pack_into("<4q", data, shape.buffers_at, 0, 0, 0, 16)
    batch = pa.ipc.read_record_batch(pa.py_buffer(bytes(data)), pa.schema([("id", pa.int64())]))
    batch.validate(full=True)
    assert batch.to_pydict() == {"id": [5, -7]}


def test_a_schema_message_is_not_a_record_batch() -> None:
    """Only record batches are taken for rows."""
    data = EVERY_SHAPE.schema.serialize().to_pybytes()
    with pytest.raises(CorruptError, match="not a record batch"):
        read_message(data, 0, len(data))


@given(st.data())
def test_damaged_messages_are_refused_or_read_within_their_bounds(data: st.DataObject) -> None:
    """Whatever is flipped or cut, reading ends in a message inside the buffer or in CORRUPT_RECORD."""
    good = bytearray(arrow_message(EVERY_SHAPE.select(["big", "text"])))
    for place in data.draw(st.lists(st.integers(0, len(good) - 1), min_size=1, max_size=4)):
        good[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(good)))
    with contextlib.suppress(CorruptError):
        message = read_message(good[:cut], 0, cut)
        assert message.body_at + message.body_bytes <= cut
        assert message.nodes_at + 16 * message.node_count <= cut
        assert message.nodes_at >= 0


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    """Bytes that are no message never raise anything but CORRUPT_RECORD."""
    with contextlib.suppress(CorruptError):
        read_message(b"\xff\xff\xff\xff" + data, 0, len(data) + 4)
