"""Projection as surgery: header rules against upstream's own output, rows against pyarrow."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import EVERY_SHAPE, arrow_batch, read_batch
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError, ErrorCode, InvalidError
from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import schema_of_arrow
from lakeward.records.batch.batch_header import read_header
from lakeward.records.batch.log_batch import cut_batches
from lakeward.records.batch.projection import plan_projection, project_batch
from lakeward.records.ipc.arrow_message import read_message

VECTORS = json.loads((Path(__file__).parents[3] / "data" / "vectors.json").read_text())["projection"]
TWO_COLUMNS = Schema.of([("a", t.INT()), ("b", t.STRING())])
SCHEMA = schema_of_arrow(EVERY_SHAPE.schema)
positions = st.sets(st.integers(0, len(SCHEMA.columns) - 1), min_size=1).map(sorted)


def project(batch: bytes | bytearray, schema: Schema, wanted: list[int]) -> bytes:
    """The projected batch in one piece; its announced size must be true."""
    (span,) = cut_batches(batch)
    parts, size = project_batch(memoryview(batch), span, plan_projection(schema, wanted))
    projected = b"".join(parts)
    assert len(projected) == size == read_header(projected).size
    return projected


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_projected_batches_equal_those_of_upstream(vector: dict) -> None:
    """Header, nodes, buffers and body are those of Apache Fluss; only the metadata's own layout may differ."""
    projected = project(bytes.fromhex(vector["source_hex"]), TWO_COLUMNS, vector["projected_fields"])
    wanted = bytes.fromhex(vector["projected_hex"])
    ours, theirs = read_header(projected), read_header(wanted)
    assert ours._replace(length=0) == theirs._replace(length=0)
    if not ours.record_count:
        assert projected == wanted
        return
    at = ours.header_bytes + (0 if ours.append_only else ours.record_count)
    assert projected[ours.header_bytes : at] == wanted[ours.header_bytes : at]
    message = read_message(projected, at, len(projected))
    arrow = vector["arrow"]
    nodes = struct.unpack_from(f"<{2 * message.node_count}q", projected, message.nodes_at)
    assert list(nodes) == [n for node in arrow["nodes"] for n in node]
    assert list(message.buffers) == [n for buffer in arrow["buffers"] for n in buffer]
    assert message.body_bytes == arrow["body_length"]
    assert projected[message.body_at :].hex() == arrow["body_hex"]


@given(positions, st.sampled_from([None, "lz4", "zstd"]), st.integers(0, 2))
def test_any_columns_come_out_as_they_went_in(wanted: list[int], codec: str | None, magic: int) -> None:
    """Any set of flat and nested columns, in any codec and header version, is read by pyarrow unchanged."""
    batch = arrow_batch(EVERY_SHAPE, codec, magic=magic, statistics=b"stat" if magic else b"", writer_id=5, sequence=6)
    projected = project(batch, SCHEMA, wanted)
    kept = EVERY_SHAPE.select([EVERY_SHAPE.schema.names[i] for i in wanted])
    rows = read_batch(projected, kept.schema)
    rows.validate(full=True)
    assert rows.equals(kept)
    header = read_header(projected)
    assert header.statistics_length == 0
    assert (header.record_count, header.writer_id, header.batch_sequence) == (3, 5, 6)


def test_change_types_go_with_the_rows() -> None:
    """A changelog batch keeps its vector of change types."""
    batch = arrow_batch(EVERY_SHAPE, change_types=b"\x01\x02\x03")
    projected = project(batch, SCHEMA, [4])
    header = read_header(projected)
    assert projected[header.header_bytes : header.header_bytes + 3] == b"\x01\x02\x03"
    assert read_batch(projected, pa.schema([("text", pa.string())])).column(0).equals(EVERY_SHAPE["text"])


def test_no_byte_of_the_rows_is_copied() -> None:
    """What is sent are views into what was stored: projecting a megabyte costs what projecting a byte costs."""
    batch = arrow_batch(pa.record_batch({"a": pa.array([1] * 9, pa.int32()), "b": pa.array(["x" * 4096] * 9)}))
    (span,) = cut_batches(batch)
    parts, _ = project_batch(memoryview(batch), span, plan_projection(TWO_COLUMNS, [1]))
    assert [isinstance(part, memoryview) for part in parts] == [False, True]
    assert parts[1].obj is batch


def test_neighbouring_columns_travel_in_one_piece() -> None:
    """A run of columns is one view, however many there are."""
    assert len(plan_projection(SCHEMA, range(len(SCHEMA.columns))).runs) == 1
    assert len(plan_projection(SCHEMA, [0, 1, 2, 5, 6, 9]).runs) == 3


@given(st.sets(st.integers(0, len(SCHEMA.columns) - 1), min_size=1).map(sorted), st.integers(0, 15), st.data())
def test_columns_that_came_later_are_null(wanted: list[int], age: int, data: st.DataObject) -> None:
    """A batch from before some columns were added is projected with them, without values, in any codec."""
    columns = EVERY_SHAPE.schema.names
    rows = data.draw(st.integers(1, 3))
    before = EVERY_SHAPE.select(columns[: max(age, 1)]).slice(0, rows)
    batch = arrow_batch(before, data.draw(st.sampled_from([None, "lz4", "zstd"])), magic=data.draw(st.integers(0, 2)))
    (span,) = cut_batches(batch)
    plan = plan_projection(schema_of_arrow(before.schema), wanted, SCHEMA)
    parts, size = project_batch(memoryview(batch), span, plan)
    projected = b"".join(parts)
    assert len(projected) == size
    read = read_batch(projected, EVERY_SHAPE.select(wanted).schema)
    read.validate(full=True)
    for position, column in zip(wanted, read.columns, strict=True):
        if position < len(before.schema):
            assert column.equals(before.column(position))
        else:
            assert column.null_count == len(column) == rows


@pytest.mark.parametrize("wanted", [[], [1, 0], [0, 0], [-1], [2, 3, 3]])
def test_positions_must_rise(wanted: list[int]) -> None:
    """No column, a doubled one or another order is INVALID_COLUMN_PROJECTION, as at Apache Fluss."""
    with pytest.raises(InvalidError) as caught:
        plan_projection(SCHEMA, wanted)
    assert caught.value.code is ErrorCode.INVALID_COLUMN_PROJECTION


def test_a_batch_with_other_columns_than_its_schema_is_damage() -> None:
    """A mismatch between rows and schema is an error, never wrong columns."""
    batch = arrow_batch(EVERY_SHAPE.select(["flag", "text", "list"]))
    (span,) = cut_batches(batch)
    with pytest.raises(CorruptError):
        project_batch(memoryview(batch), span, plan_projection(SCHEMA, [0]))


@given(st.data())
def test_damaged_batches_raise_corrupt_record_or_stay_within_their_bounds(data: st.DataObject) -> None:
    """Rows that lie on disk damaged never make projection crash or send another batch's bytes."""
    batch = bytearray(arrow_batch(EVERY_SHAPE))
    (span,) = cut_batches(batch)
    for place in data.draw(st.lists(st.integers(48, len(batch) - 1), min_size=1, max_size=4)):
        batch[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CorruptError):
        parts, size = project_batch(memoryview(batch), span, plan_projection(SCHEMA, data.draw(positions)))
        assert sum(map(len, parts)) == size
        assert size < 2 * len(batch)
