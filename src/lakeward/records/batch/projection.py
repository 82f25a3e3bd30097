"""Columns asked for, columns sent: projection as surgery on a batch, never decoding it.

The body of an Arrow message holds the columns' buffers one after the other. A projected batch is the old header with a
new length, a new small metadata block, and views of the wanted stretches of the old body, still compressed.
The CRC goes stale, as at Apache Fluss; clients know.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType
from lakeward.model.schema import Schema
from lakeward.records.batch.batch_header import BATCH_V1, BATCH_V2, HEADER_BYTES
from lakeward.records.batch.log_batch import BatchSpan
from lakeward.records.ipc.arrow_message import (
    NO_CODEC,
    ArrowMessage,
    Buffer,
    column_shape,
    damage_error,
    read_message,
    template,
)
from lakeward.records.ipc.null_columns import null_buffers, null_nodes

_LENGTH = struct.Struct("<i")
_I64 = struct.Struct("<q")
_ALIGNMENT = 8
#: Stands where a compressed buffer says how long it was; the bytes after it are as they are.
_NOT_COMPRESSED = -1
_STATISTICS_AT = {1: BATCH_V1.offset("statistics_length"), 2: BATCH_V2.offset("statistics_length")}


class _Run(NamedTuple):
    """Neighbouring columns that are copied in one piece."""

    nodes: slice
    first_buffer: int
    stop_buffer: int


class Projection(NamedTuple):
    """Which nodes and buffers of a schema's batches are wanted."""

    runs: tuple[_Run, ...]
    node_total: int
    buffer_total: int
    node_count: int
    buffer_count: int
    missing: tuple[DataType, ...]


def plan_projection(schema: Schema, positions: Sequence[int], newest: Schema | None = None) -> Projection:
    """What to take from batches of this schema; columns that only the newest schema has will be NULL."""
    if not positions:
        raise ErrorCode.INVALID_COLUMN_PROJECTION.error("A projection needs at least one column.")
    if any(b <= a for a, b in pairwise(positions)) or positions[0] < 0:
        raise ErrorCode.INVALID_COLUMN_PROJECTION.error(
            f"Projected columns must be ascending positions without repetition, not {list(positions)}."
        )
    node_ends, buffer_ends = [0], [0]
    for column in schema.columns:
        nodes, buffers = column_shape(column.type)
        node_ends.append(node_ends[-1] + nodes)
        buffer_ends.append(buffer_ends[-1] + buffers)
    runs: list[_Run] = []
    for p in positions:
        if p >= len(schema.columns):
            continue
        run = _Run(slice(node_ends[p], node_ends[p + 1]), buffer_ends[p], buffer_ends[p + 1])
        if runs and runs[-1].stop_buffer == run.first_buffer:
            before = runs.pop()
            run = _Run(slice(before.nodes.start, run.nodes.stop), before.first_buffer, run.stop_buffer)
        runs.append(run)
    columns = () if newest is None else newest.columns
    missing = tuple(columns[p].type for p in positions if len(schema.columns) <= p < len(columns))
    shapes = [column_shape(type_) for type_ in missing]
    return Projection(
        runs=tuple(runs),
        node_total=node_ends[-1],
        buffer_total=buffer_ends[-1],
        node_count=sum(r.nodes.stop - r.nodes.start for r in runs) + sum(n for n, _ in shapes),
        buffer_count=sum(r.stop_buffer - r.first_buffer for r in runs) + sum(b for _, b in shapes),
        missing=missing,
    )


class Surgery(NamedTuple):
    """What a projected batch is made of: metadata of its message, stretches of the old batch, NULLs behind them."""

    metadata: bytearray
    stretches: list[tuple[int, int]]
    nulls: list[bytearray]
    body_bytes: int
    message: ArrowMessage


def plan_surgery(data: memoryview, span: BatchSpan, plan: Projection) -> Surgery:
    """How a batch with rows is projected; of `data` only the bytes up to the body are looked at."""
    message = read_message(data, _message_at(span), span.end)
    buffers = message.buffers
    if message.node_count != plan.node_total or len(buffers) != 2 * plan.buffer_total:
        raise damage_error("it has other columns than its schema")
    shape = template(plan.node_count, plan.buffer_count, message.codec)
    metadata = bytearray(shape.data)
    stretches: list[tuple[int, int]] = []
    pieces: list[bytearray] = []
    moved: list[int] = []
    node_at, cursor = shape.nodes_at, 0
    for run in plan.runs:
        nodes = data[message.nodes_at + 16 * run.nodes.start : message.nodes_at + 16 * run.nodes.stop]
        metadata[node_at : node_at + len(nodes)] = nodes
        node_at += len(nodes)
        first = buffers[2 * run.first_buffer]
        stop = buffers[2 * run.stop_buffer] if run.stop_buffer < plan.buffer_total else message.body_bytes
        if not 0 <= first <= stop <= message.body_bytes:
            raise damage_error("its buffers are out of order")
        shift = cursor - first
        for i in range(2 * run.first_buffer, 2 * run.stop_buffer, 2):
            moved.append(buffers[i] + shift)
            moved.append(buffers[i + 1])
        stretches.append((message.body_at + first, message.body_at + stop))
        cursor += stop - first
    for type_ in plan.missing:
        nodes_of_nulls = tuple(null_nodes(type_, message.rows))
        struct.pack_into(f"<{len(nodes_of_nulls)}q", metadata, node_at, *nodes_of_nulls)
        node_at += 8 * len(nodes_of_nulls)
        piece, places = _nulls(type_, message.rows, cursor, is_compressed=message.codec != NO_CODEC)
        moved += places
        pieces.append(piece)
        cursor += len(piece)
    struct.pack_into(f"<{len(moved)}q", metadata, shape.buffers_at, *moved)
    struct.pack_into("<q", metadata, shape.rows_at, message.rows)
    struct.pack_into("<q", metadata, shape.body_bytes_at, cursor)
    return Surgery(metadata, stretches, pieces, cursor, message)


def project_batch(data: memoryview, span: BatchSpan, plan: Projection) -> tuple[list[Buffer], int]:
    """The projected batch as a gather list, and its size. The views stay valid as long as `data`."""
    header = span.header
    if header.record_count == 0:
        return [data[span.start : span.end]], span.end - span.start
    surgery = plan_surgery(data, span, plan)
    head = bytearray(data[span.start : span.start + HEADER_BYTES[header.magic]])
    if header.magic in _STATISTICS_AT:
        _LENGTH.pack_into(head, _STATISTICS_AT[header.magic], 0)
    if not header.append_only:
        message_at = _message_at(span)
        head += data[message_at - header.record_count : message_at]
    head += surgery.metadata
    size = len(head) + surgery.body_bytes
    _LENGTH.pack_into(head, 8, size - 12)
    return [head, *(data[start:stop] for start, stop in surgery.stretches), *surgery.nulls], size


def _message_at(span: BatchSpan) -> int:
    header = span.header
    records_at = span.start + HEADER_BYTES[header.magic] + header.statistics_length
    return records_at if header.append_only else records_at + header.record_count


def _nulls(type_: DataType, rows: int, cursor: int, *, is_compressed: bool) -> tuple[bytearray, list[int]]:
    """The buffers of a column without values, and where they stand when they follow `cursor` bytes of body."""
    piece = bytearray(-cursor % _ALIGNMENT)
    places = []
    for size in null_buffers(type_, rows):
        stored = size + _I64.size if size and is_compressed else size
        places += [cursor + len(piece), stored]
        if stored != size:
            piece += _I64.pack(_NOT_COMPRESSED)
        piece += bytes(size + -stored % _ALIGNMENT)
    return piece, places
