"""Columns as Arrow lays them out, without an Arrow library: one body, and where nodes and buffers stand in it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from lakeward.model.data_types import DataType
from lakeward.records.ipc.arrow_message import (
    NO_CODEC,
    ArrowMessage,
    Buffer,
    column_shape,
    damage_error,
    read_message,
    template,
)
from lakeward.records.ipc.buffer_codecs import WORTH_BYTES, BufferCodec, codec_of_id
from lakeward.records.kernels.spans import U8, read_only

ALIGNMENT_BYTES = 8
_LENGTH_PREFIX_BYTES = 8
_I64 = struct.Struct("<q")
_STORED_RAW = -1
_PADDING = [bytes(size) for size in range(ALIGNMENT_BYTES)]


class Columns(NamedTuple):
    """Columns of equal length; nodes and buffers are listed depth first, as in an Arrow message."""

    rows: int
    body: U8
    nodes: list[int]
    """Length and number of NULLs of each node."""
    buffers: list[int]
    """Position in the body and length of each buffer; validity bits of a node without NULLs may be left out."""


class Places(NamedTuple):
    """Where the nodes and buffers of each column begin; the last entry is where they end."""

    nodes: tuple[int, ...]
    buffers: tuple[int, ...]


@lru_cache(maxsize=512)
def places_of(types: tuple[DataType, ...]) -> Places:
    """Where each column's nodes and buffers stand in the lists of `Columns`."""
    nodes, buffers = zip(*map(column_shape, types), strict=True) if types else ((), ())
    return Places((0, *accumulate(nodes)), (0, *accumulate(buffers)))


def null_count(columns: Columns, types: Sequence[DataType], position: int) -> int:
    """How many rows have NULL in a column."""
    return columns.nodes[2 * places_of(tuple(types)).nodes[position] + 1]


def select(columns: Columns, types: Sequence[DataType], positions: Sequence[int]) -> Columns:
    """Some of the columns, in the order asked for; nothing is copied."""
    places = places_of(tuple(types))
    nodes = [n for p in positions for n in columns.nodes[2 * places.nodes[p] : 2 * places.nodes[p + 1]]]
    buffers = [b for p in positions for b in columns.buffers[2 * places.buffers[p] : 2 * places.buffers[p + 1]]]
    return Columns(columns.rows, columns.body, nodes, buffers)


def read_columns(data: Buffer, start: int, end: int, types: Sequence[DataType]) -> Columns:
    """The columns of the Arrow message between two positions; CORRUPT_RECORD when it has other ones."""
    message = read_message(data, start, end)
    places = places_of(tuple(types))
    if message.node_count != places.nodes[-1] or len(message.buffers) != 2 * places.buffers[-1]:
        raise damage_error("it has other columns than its schema")
    nodes = list(struct.unpack_from(f"<{2 * message.node_count}q", data, message.nodes_at))
    for at, size in zip(message.buffers[::2], message.buffers[1::2], strict=True):
        if at < 0 or size < 0 or at + size > message.body_bytes:
            raise damage_error("a buffer lies outside its body")
    body = read_only(memoryview(data)[message.body_at : message.body_at + message.body_bytes])
    buffers = list(message.buffers)
    if message.codec != NO_CODEC:
        body, buffers = _decompress(body, message)
    # A value takes at least a bit, its own or that of a part: no lie about lengths gets to claim more memory than that.
    if any(not 0 <= length <= 8 * len(body) for length in nodes[::2]):
        raise damage_error("it claims more values than its body can hold")
    return Columns(message.rows, body, nodes, buffers)


def _decompress(body: U8, message: ArrowMessage) -> tuple[U8, list[int]]:
    codec = codec_of_id(message.codec)
    view = body.data
    pieces: list[Buffer] = []
    buffers: list[int] = []
    cursor = 0
    for at, size in zip(message.buffers[::2], message.buffers[1::2], strict=True):
        piece: Buffer = b""
        if size:
            if size < _LENGTH_PREFIX_BYTES:
                raise damage_error("a compressed buffer is cut off")
            (raw_bytes,) = _I64.unpack_from(view, at)
            piece = view[at + _LENGTH_PREFIX_BYTES : at + size]
            if raw_bytes != _STORED_RAW:
                piece = codec.decompress(piece, raw_bytes)
        buffers += (cursor, len(piece))
        pieces += (piece, _PADDING[-len(piece) % ALIGNMENT_BYTES])
        cursor += len(piece) + len(pieces[-1])
    return read_only(b"".join(pieces)), buffers


def write_message(columns: Columns, codec: BufferCodec | None, head: bytearray) -> None:
    """Append the columns as an Arrow message to what is there already. Small ones are not compressed."""
    view = columns.body.data
    raw = [view[at : at + size] for at, size in zip(columns.buffers[::2], columns.buffers[1::2], strict=True)]
    if all(len(piece) < WORTH_BYTES for piece in raw):
        codec = None  # readers go by the message, and a message without codec has no lengths before its buffers
    pieces: Sequence[Buffer] = raw if codec is None else [codec.pack(piece) for piece in raw]
    shape = template(len(columns.nodes) // 2, len(pieces), NO_CODEC if codec is None else codec.id)
    message_at = len(head)
    places: list[int] = []
    gathered: list[Buffer] = [shape.data]
    cursor = 0
    for piece in pieces:
        size = len(piece)
        padding = -size % ALIGNMENT_BYTES
        places += (cursor, size)
        gathered += (piece, _PADDING[padding])
        cursor += size + padding
    head += b"".join(gathered)
    struct.pack_into(f"<{len(columns.nodes)}q", head, message_at + shape.nodes_at, *columns.nodes)
    struct.pack_into(f"<{len(places)}q", head, message_at + shape.buffers_at, *places)
    _I64.pack_into(head, message_at + shape.rows_at, columns.rows)
    _I64.pack_into(head, message_at + shape.body_bytes_at, cursor)
