"""Whether an Arrow message can be what it says: nodes, buffers and sizes against the row count, before anyone believes.

Nothing is decompressed and no value is looked at: this is what must hold so that an Arrow library reads neither beside
its buffers nor more memory than the batch can honestly need. It needs no Arrow library, so both sides can ask it.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lakeward.errors import LakewardError
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.arrow_message import NO_CODEC, ArrowMessage, Buffer, damaged, read_message
from lakeward.records.buffer_codecs import LZ4_FRAME_ID, ZSTD_ID
from lakeward.records.null_columns import fixed_width

#: What the rows of one batch may take once they are decompressed, a row counting as eight bytes at least …
RAW_BYTES_MAX = 128 << 20
#: … and a batch that is larger than this already may take so many times its size.
_RATIO_MAX = 16
_ROW_BYTES_MIN = 8
_LENGTH_PREFIX_BYTES = 8
_STORED_RAW = -1
_I64 = struct.Struct("<q")
_OFFSET_BITS = 32
_TEXTS = {TypeRoot.STRING, TypeRoot.CHAR, TypeRoot.BYTES}


class _Length(enum.Enum):
    """How many values a node has: as many as the batch has rows, as its parent, or what its parent's offsets say."""

    ROWS = enum.auto()
    PARENT = enum.auto()
    FREE = enum.auto()


class _Node(NamedTuple):
    """A node: how long it is, and the bits per value of each of its buffers behind the validity (0: any size)."""

    length: _Length
    parent: int
    bits: tuple[int, ...]
    offsets: bool


@lru_cache(maxsize=512)
def _nodes(types: tuple[DataType, ...]) -> tuple[_Node, ...]:
    found: list[_Node] = []
    for type_ in types:
        found.extend(_nodes_of(type_, _Length.ROWS, 0, len(found)))
    return tuple(found)


def _nodes_of(type_: DataType, length: _Length, parent: int, at: int) -> Iterator[_Node]:
    """The nodes of a column, depth first; `at` is where the first of them stands."""
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            yield _Node(length, parent, (_OFFSET_BITS,), offsets=True)
            yield from _nodes_of(type_.element, _Length.FREE, at, at + 1)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            yield _Node(length, parent, (_OFFSET_BITS,), offsets=True)
            yield _Node(_Length.FREE, at, (), offsets=False)
            keys = list(_nodes_of(type_.key, _Length.PARENT, at + 1, at + 2))
            yield from keys
            yield from _nodes_of(type_.value, _Length.PARENT, at + 1, at + 2 + len(keys))
        case TypeRoot.ROW:
            yield _Node(length, parent, (), offsets=False)
            child = at + 1
            for field in type_.fields:
                inner = list(_nodes_of(field.type, _Length.PARENT, at, child))
                yield from inner
                child += len(inner)
        case TypeRoot.BOOLEAN:
            yield _Node(length, parent, (1,), offsets=False)
        case root if root in _TEXTS:
            yield _Node(length, parent, (_OFFSET_BITS, 0), offsets=True)
        case _:
            yield _Node(length, parent, (8 * fixed_width(type_),), offsets=False)


def node_count(types: tuple[DataType, ...]) -> int:
    """How many nodes these columns take, children included."""
    return len(_nodes(types))


def check_claims(
    data: Buffer, start: int, end: int, types: tuple[DataType, ...], rows: int, raw_bytes_max: int = RAW_BYTES_MAX
) -> ArrowMessage:
    """The message between two positions, if it can hold so many rows of these columns; else CORRUPT_RECORD."""
    message = read_message(data, start, end)
    if message.rows != rows:
        raise damaged(f"it has {message.rows} rows, and the batch says {rows}")
    if message.codec not in {NO_CODEC, LZ4_FRAME_ID, ZSTD_ID}:
        raise damaged(f"its compression {message.codec} is unknown")
    nodes = _nodes(types)
    if message.node_count != len(nodes) or len(message.buffers) != 2 * sum(1 + len(n.bits) for n in nodes):
        raise damaged("it has other columns than its schema")
    sizes = _sizes(data, message, max(raw_bytes_max, _RATIO_MAX * message.body_bytes))
    if rows * _ROW_BYTES_MIN > max(raw_bytes_max, _RATIO_MAX * message.body_bytes):
        raise damaged(f"{message.body_bytes} bytes cannot be {rows} rows")
    counts = struct.unpack_from(f"<{2 * len(nodes)}q", data, message.nodes_at)
    at = 0
    for i, node in enumerate(nodes):
        length, nulls = counts[2 * i], counts[2 * i + 1]
        wanted = rows if node.length is _Length.ROWS else counts[2 * node.parent]
        if length < 0 or not 0 <= nulls <= length or (node.length is not _Length.FREE and length != wanted):
            raise _bad_node(i, length, nulls, rows)
        if 8 * sizes[at] < length and (sizes[at] or nulls):
            raise damaged(f"node {i} has {nulls} NULLs among {length} values, and {sizes[at]} bytes to say which")
        at += 1
        for rank, bits in enumerate(node.bits):
            values = length + 1 if node.offsets and rank == 0 and length else length
            if 8 * sizes[at] < values * bits:
                raise damaged(f"node {i} has {length} values, and {sizes[at]} bytes for them")
            at += 1
    return message


def _sizes(data: Buffer, message: ArrowMessage, bytes_max: int) -> list[int]:
    """Bytes of each buffer, as they are after decompression by their own word."""
    places = message.buffers
    body_bytes = message.body_bytes
    for at, size in zip(places[::2], places[1::2], strict=True):
        if at < 0 or size < 0 or at + size > body_bytes:
            raise damaged(f"a buffer of {size} bytes at {at} lies outside its body of {body_bytes}")
    if message.codec == NO_CODEC:
        return list(places[1::2])
    sizes = []
    for at, size in zip(places[::2], places[1::2], strict=True):
        if not size:
            sizes.append(0)
            continue
        if size < _LENGTH_PREFIX_BYTES:
            raise damaged("a compressed buffer is cut off")
        (raw_bytes,) = _I64.unpack_from(data, message.body_at + at)
        if raw_bytes < _STORED_RAW or raw_bytes > bytes_max:
            raise damaged(f"a compressed buffer of {size} bytes claims {raw_bytes}")
        sizes.append(size - _LENGTH_PREFIX_BYTES if raw_bytes == _STORED_RAW else raw_bytes)
    if sum(sizes) > bytes_max:
        raise damaged(f"{body_bytes} compressed bytes claim to be {sum(sizes)}, and {bytes_max} are taken at most")
    return sizes


def _bad_node(i: int, length: int, nulls: int, rows: int) -> LakewardError:
    return damaged(f"node {i} has {length} values with {nulls} NULLs in a batch of {rows} rows")
