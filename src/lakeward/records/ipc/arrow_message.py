"""The Arrow RecordBatch message inside a batch, read and written without an Arrow library.

An encapsulated message is `ffffffff`, the metadata's length, the metadata (a flatbuffer), the body. Of the flatbuffer
we need where rows, nodes and buffers stand; that is a handful of fixed-width reads, far cheaper than decoding.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType, TypeRoot

Buffer = bytes | bytearray | memoryview

_PREFIX = struct.Struct("<Ii")
_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_I64 = struct.Struct("<q")
_CONTINUATION = 0xFFFFFFFF
_RECORD_BATCH = 3
_METADATA_V5 = 4
_VERSIONS = {3, _METADATA_V5}  # which differ in unions alone
NO_CODEC = -1
_CODECS = {0, 1}  # LZ4_FRAME, ZSTD

_THREE_BUFFERS = {TypeRoot.STRING, TypeRoot.CHAR, TypeRoot.BYTES}


class ArrowMessage(NamedTuple):
    """Where things stand in a message; positions count from the start of the buffer it was read from."""

    rows: int
    codec: int
    nodes_at: int
    node_count: int
    buffers: tuple[int, ...]
    body_at: int
    body_bytes: int


def column_shape(type_: DataType) -> tuple[int, int]:
    """How many nodes and buffers a column of this type takes, children included."""
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            nodes, buffers = column_shape(type_.element)
            return nodes + 1, buffers + 2
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            (kn, kb), (vn, vb) = column_shape(type_.key), column_shape(type_.value)
            return kn + vn + 2, kb + vb + 3  # the map itself and its struct of entries
        case TypeRoot.ROW:
            shapes = [column_shape(f.type) for f in type_.fields]
            return 1 + sum(n for n, _ in shapes), 1 + sum(b for _, b in shapes)
        case root:
            return 1, 3 if root in _THREE_BUFFERS else 2


def read_message(data: Buffer, start: int, end: int) -> ArrowMessage:
    """The record batch message between two positions; anything else is CORRUPT_RECORD."""
    try:
        return _read(data, start, end)
    except (struct.error, IndexError) as wrong:
        raise damage_error(f"its metadata cannot be read ({wrong})") from wrong


def _read(data: Buffer, start: int, end: int) -> ArrowMessage:
    marker, metadata_bytes = _PREFIX.unpack_from(data, start)
    flat = start + 8
    body_at = flat + metadata_bytes
    if marker != _CONTINUATION or metadata_bytes < 0 or body_at > end:
        raise damage_error("it is not an encapsulated message")
    table, fields = _table(data, flat, flat, body_at)
    version_at = _field(table, fields, 0, 2, flat, body_at)
    kind_at = _field(table, fields, 1, 1, flat, body_at)
    header_at = _field(table, fields, 2, 4, flat, body_at)
    body_size_at = _field(table, fields, 3, 8, flat, body_at)
    if not kind_at or not header_at or data[kind_at] != _RECORD_BATCH:
        raise damage_error("it is not a record batch")
    if (
        not version_at
        or _U16.unpack_from(data, version_at)[0] != _METADATA_V5
        or _field(table, fields, 4, 4, flat, body_at)
    ):
        raise damage_error("it is of another version of Arrow, or carries metadata of its own")
    body_bytes = _I64.unpack_from(data, body_size_at)[0] if body_size_at else 0
    table, fields = _table(data, flat, header_at, body_at)
    rows_at = _field(table, fields, 0, 8, flat, body_at)
    rows = _I64.unpack_from(data, rows_at)[0] if rows_at else 0
    nodes_at, node_count = _vector(data, _field(table, fields, 1, 4, flat, body_at), flat, body_at)
    buffers_at, buffer_count = _vector(data, _field(table, fields, 2, 4, flat, body_at), flat, body_at)
    buffers = struct.unpack_from(f"<{2 * buffer_count}q", data, buffers_at)
    compression_at = _field(table, fields, 3, 4, flat, body_at)
    if _field(table, fields, 4, 4, flat, body_at):
        raise damage_error("it has columns of views")
    codec = NO_CODEC
    if compression_at:
        table, fields = _table(data, flat, compression_at, body_at)
        codec_at, method_at = _field(table, fields, 0, 1, flat, body_at), _field(table, fields, 1, 1, flat, body_at)
        codec = data[codec_at] if codec_at else 0
        if codec not in _CODECS or (method_at and data[method_at]):
            raise damage_error(f"compression {codec} is unknown")
    if body_bytes < 0 or body_at + body_bytes > end:
        raise damage_error("its body is cut off")
    return ArrowMessage(rows, codec, nodes_at, node_count, buffers, body_at, body_bytes)


def _table(data: Buffer, flat: int, reference: int, limit: int) -> tuple[int, tuple[int, ...]]:
    """A table that a position refers to, and where its fields stand; as strict as the readers of others are."""
    table = reference + _U32.unpack_from(data, reference)[0]
    if (table - flat) & 3 or table + 4 > limit:
        raise damage_error("a table lies outside its metadata")
    vtable = table - _I32.unpack_from(data, table)[0]
    if vtable < flat or (vtable - flat) & 1 or vtable + 4 > limit:
        raise damage_error("a table lies outside its metadata")
    size = _U16.unpack_from(data, vtable)[0]
    if size < 4 or size & 1 or vtable + size > limit:
        raise damage_error("a table lies outside its metadata")
    return table, struct.unpack_from(f"<{(size - 4) >> 1}H", data, vtable + 4)


def _field(table: int, fields: tuple[int, ...], index: int, width: int, flat: int, limit: int) -> int:
    """Where a table's field stands, or 0 when it is left out."""
    if index >= len(fields) or not fields[index]:
        return 0
    at = table + fields[index]
    if at + width > limit or (at - flat) & (width - 1):
        raise damage_error("a field lies outside its metadata")
    return at


def _vector(data: Buffer, reference: int, flat: int, limit: int) -> tuple[int, int]:
    """Position and length of a vector of 16-byte structs."""
    if not reference:
        return 0, 0
    vector = reference + _U32.unpack_from(data, reference)[0]
    if (vector - flat) & 3 or vector + 4 > limit:
        raise damage_error("a vector is cut off")
    count = _U32.unpack_from(data, vector)[0]
    if vector + 4 + 16 * count > limit:
        raise damage_error("a vector is cut off")
    return vector + 4, count


class Template(NamedTuple):
    """The metadata of a message of a given shape, with holes for the numbers."""

    data: bytes
    rows_at: int
    body_bytes_at: int
    nodes_at: int
    buffers_at: int


# The metadata we write always has the same frame, so its positions are constants. Tables are 8-aligned, each vtable
# stands before its table:
#    0 root  4 vtable   16 Message {16 soffset, 20 header, 24 bodyLength, 32 version, 34 header type}
#   40 vtable          56 RecordBatch {56 soffset, 60 nodes, 64 buffers, 68 compression, 72 length}
#   80 vtable          88 BodyCompression {88 soffset, 92 codec, 93 method}, only with a codec
_FRAME = struct.Struct("<I 6H iIq hBxi 6H4x iIIIq")
_COMPRESSION = struct.Struct("<4H ibb2x")
_MESSAGE, _BATCH, _BODY_BYTES_AT, _ROWS_AT = 16, 56, 24, 72
assert _FRAME.size == 80


@lru_cache(maxsize=1024)
def template(node_count: int, buffer_count: int, codec: int) -> Template:
    """Prefix and metadata of a message with this many nodes and buffers."""
    compression = b"" if codec == NO_CODEC else _COMPRESSION.pack(8, 8, 4, 5, 8, codec, 0)
    nodes = _FRAME.size + len(compression) + 4  # a vector's length stands 4 bytes before its 8-aligned elements
    buffers = nodes + 4 + 16 * node_count + 4
    frame = _FRAME.pack(
        _MESSAGE,
        12, 24, 16, 18, 4, 8,
        12, _BATCH - 20, 0, _METADATA_V5, _RECORD_BATCH, 0,
        12, 24, 16, 4, 8, 12 if compression else 0,
        16, nodes - 60, buffers - 64, 88 - 68 if compression else 0, 0,
    )  # fmt: skip
    flat = b"".join(
        [
            frame,
            compression,
            _I64.pack(node_count << 32),  # four bytes of padding, then the length
            bytes(16 * node_count),
            _I64.pack(buffer_count << 32),
            bytes(16 * buffer_count),
        ]
    )
    head = _PREFIX.pack(_CONTINUATION, len(flat))
    return Template(head + flat, 8 + _ROWS_AT, 8 + _BODY_BYTES_AT, 8 + nodes + 4, 8 + buffers + 4)


def damage_error(what: str) -> LakewardError:
    """The error for a payload that is not an Arrow record batch."""
    return ErrorCode.CORRUPT_RECORD.error(f"The Arrow message of the record batch is damaged: {what}.")
