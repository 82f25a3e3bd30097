"""The structure of an Arrow message against its schema: every length, count and place, without looking at values.

A reader trusts these numbers with its memory, so a batch is appended only if they hold. A few comparisons a buffer.

    node     length and number of NULLs of a column or of a part of a nested one
    buffer   position and length in the body; a compressed one begins with the length that it will have
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.ipc.arrow_message import NO_CODEC, ArrowMessage, Buffer, damage_error

_I64 = struct.Struct("<q")
_LENGTH_BYTES = 8
_STORED_RAW = -1
_COUNT_MAX = (1 << 31) - 1
#: What a batch may become when it is decompressed; who believes it may ask for less.
RAW_BYTES_MAX = 512 << 20
#: Writers round buffers up, at most to this.
_ROUNDED_BYTES = 64

BITS, OFFSETS, DATA = -1, -2, -3
"""Buffers that are not of this many bytes a value."""

_WIDTHS = {
    TypeRoot.BOOLEAN: BITS,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INTEGER: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.FLOAT: 4,
    TypeRoot.DOUBLE: 8,
    TypeRoot.DECIMAL: 16,
    TypeRoot.DATE: 4,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
}
_PLAIN = {*_WIDTHS} - {TypeRoot.DECIMAL}
_TEXTS = {TypeRoot.CHAR, TypeRoot.STRING, TypeRoot.BYTES}
_TIME_32_PRECISION_MAX = 3


class Node(NamedTuple):
    """What the schema says of one node: its parent (−1: the batch itself), and its buffers behind the validity."""

    name: str
    type: DataType | None
    """None for the entries of a MAP."""
    parent: int
    is_element: bool
    """Whether it has as many values as its parent's offsets say, not as many as its parent."""
    is_required: bool
    buffers: tuple[int, ...]
    is_plain: bool
    """Whether any bytes of the right length are values of it."""


def nodes_of(schema: Schema) -> tuple[Node, ...]:
    """All nodes of a schema's batches, depth first."""
    nodes: list[Node] = []
    for column in schema.columns:
        _add(nodes, column.name, column.type, -1, is_element=False, is_required=not column.type.nullable)
    return tuple(nodes)


def _add(
    nodes: list[Node], name: str, type_: DataType, parent: int, *, is_element: bool, is_required: bool = False
) -> None:
    # A part of a nested value may be NULL where its parent is, whatever its own type says; so only columns and the
    # keys of maps are held to NOT NULL.
    own = len(nodes)
    nodes.append(Node(name, type_, parent, is_element, is_required, tuple(_buffers(type_)), type_.root in _PLAIN))
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            _add(nodes, f"{name}.element", type_.element, own, is_element=True)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            nodes.append(
                Node(f"{name}.entries", None, own, is_element=True, is_required=True, buffers=(), is_plain=False)
            )
            _add(nodes, f"{name}.key", type_.key, own + 1, is_element=False, is_required=True)
            _add(nodes, f"{name}.value", type_.value, own + 1, is_element=False)
        case TypeRoot.ROW:
            for field in type_.fields:
                _add(nodes, f"{name}.{field.name}", field.type, own, is_element=False)
        case _:
            pass


def _buffers(type_: DataType) -> Iterator[int]:
    root = type_.root
    if root in _TEXTS:
        yield OFFSETS
        yield DATA
    elif root in {TypeRoot.ARRAY, TypeRoot.MAP}:
        yield OFFSETS
    elif root is TypeRoot.BINARY:
        assert type_.length is not None
        yield type_.length
    elif root is TypeRoot.TIME:
        assert type_.precision is not None
        yield 4 if type_.precision <= _TIME_32_PRECISION_MAX else 8
    elif root is not TypeRoot.ROW:
        yield _WIDTHS[root]


class CheckedMessage(NamedTuple):
    """A message whose numbers hold: its nodes, and the bytes that each buffer has when it is not compressed."""

    message: ArrowMessage
    nodes: tuple[int, ...]
    sizes: list[int]


def check_structure(data: Buffer, message: ArrowMessage, schema_nodes: tuple[Node, ...], rows: int) -> CheckedMessage:
    """The message against its schema and the rows its header claims; CORRUPT_RECORD says what does not hold."""
    if message.rows != rows:
        raise damage_error(f"it holds {message.rows} rows, its header says {rows}")
    if message.node_count != len(schema_nodes):
        raise damage_error("it has other columns than its schema")
    sizes = _sizes(data, message)
    nodes = struct.unpack_from(f"<{2 * len(schema_nodes)}q", data, message.nodes_at)
    # Of a compressed buffer the size is a claim; no more of it is believed than the values can need.
    room = _ROUNDED_BYTES if message.codec != NO_CODEC else message.body_bytes
    place, number = 0, 0
    for name, _, parent, is_element, is_required, buffers, _ in schema_nodes:
        length, nulls = nodes[number], nodes[number + 1]
        number += 2
        if not is_element and length != (rows if parent < 0 else nodes[2 * parent]):
            raise damage_error(f"column {name} has {length} values for {rows} rows")
        if not 0 <= nulls <= length <= _COUNT_MAX:
            raise damage_error(f"column {name} has {length} values, {nulls} of them NULL")
        if nulls and is_required:
            raise damage_error(f"column {name} must not be NULL and is so {nulls} times")
        if place + len(buffers) >= len(sizes):
            raise damage_error("it has other columns than its schema")
        bits = (length + 7) >> 3
        if length and not (bits if nulls else 0) <= sizes[place] <= bits + room:
            raise damage_error(f"column {name} has {sizes[place]} bytes that say which of {length} values are NULL")
        place += 1
        for kind in buffers:
            size = sizes[place]
            place += 1
            if kind == DATA:
                continue
            needed = kind * length if kind >= 0 else bits if kind == BITS else 4 * (length + 1)
            # Without values there may be anything: Arrow's writers do not cut the offsets of an empty slice.
            if length and not needed <= size <= needed + room:
                raise damage_error(f"column {name} has {size} bytes where {length} values take {needed}")
    if place != len(sizes):
        raise damage_error("it has other columns than its schema")
    return CheckedMessage(message, nodes, sizes)


def _sizes(data: Buffer, message: ArrowMessage) -> list[int]:
    """The bytes of each buffer before compression; they lie in the body, one behind the other."""
    buffers, body_at, body_bytes = message.buffers, message.body_at, message.body_bytes
    is_compressed = message.codec != NO_CODEC
    sizes = []
    behind = 0
    for at, size in zip(buffers[::2], buffers[1::2], strict=True):
        if at < behind or at & 7 or size < 0 or at + size > body_bytes:
            raise damage_error(f"a buffer of {size} bytes at {at} lies outside its body, in another buffer, or crooked")
        behind = at + size
        if is_compressed and size:
            if size < _LENGTH_BYTES:
                raise damage_error("a compressed buffer is cut off")
            (raw,) = _I64.unpack_from(data, body_at + at)
            if raw < _STORED_RAW:
                raise damage_error(f"a compressed buffer claims {raw} bytes")
            size = size - _LENGTH_BYTES if raw == _STORED_RAW else raw
        sizes.append(size)
    if sum(sizes) > RAW_BYTES_MAX:
        raise damage_error(
            f"it would take {sum(sizes)} bytes, over the limit of {RAW_BYTES_MAX}; write fewer rows at once"
        )
    return sizes
