"""Encode and decode any declared message.

The shape of a class is computed once: a table from tag to reader for decoding, a list of writers for encoding.
Payload fields come out as views into the frame and go in as parts of a gather list, so that a megabyte of records
costs the same as a byte.
"""

from __future__ import annotations

import dataclasses
import struct
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from lakeward.protocol.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    Buffer,
    corrupt,
    read_length,
    read_varint,
    skip,
    write_varint,
)

M = TypeVar("M")
Parts = list[Buffer]
_Read = Callable[[Buffer, int, int], tuple[Any, int]]
_Write = Callable[[Any, Parts], int]

#: More elements than any honest request names, few enough to keep a hostile one cheap.
REPEATED_MAX = 200_000
_VIEW_BYTES_MIN = 4096


def decode(cls: type[M], data: Buffer) -> M:
    """The message in these bytes. Payload fields are views into `data`."""
    try:
        return _decode(cls, data, 0, len(data))
    except (struct.error, UnicodeDecodeError, RecursionError) as wrong:
        raise corrupt(f"{cls.__name__}: {wrong}") from wrong


def encode(message: Any) -> bytes:
    """The message as one piece of bytes."""
    return b"".join(encode_parts(message))


def encode_parts(message: Any) -> Parts:
    """The message as a gather list; large payloads are the caller's own buffers."""
    parts: Parts = []
    _encode(message, parts)
    return parts


# -- decoding ---------------------------------------------------------------------------------------------------------


def _decode(cls: type[M], data: Buffer, position: int, end: int) -> M:
    readers, empties = _readers(cls)
    values: dict[str, Any] = {}
    while position < end:
        tag, position = read_varint(data, position, end)
        found = readers.get(tag)
        if found is None:
            position = skip(data, position, end, tag & 7)
            continue
        name, read, many = found
        value, position = read(data, position, end)
        if not many:
            values[name] = value
        elif many == _ONE_OF_MANY:
            values.setdefault(name, []).append(value)
        else:
            values.setdefault(name, []).extend(value)
        if many and len(values[name]) > REPEATED_MAX:
            raise corrupt(f"{cls.__name__}.{name} has more than {REPEATED_MAX} elements")
    for name in empties:
        values[name] = tuple(values.get(name, ()))
    try:
        return cls(**values)
    except TypeError as wrong:
        raise corrupt(f"{cls.__name__} lacks a required field ({wrong})") from wrong


_ONE_OF_MANY, _PACK_OF_MANY = 1, 2


@cache
def _readers(cls: Any) -> tuple[dict[int, tuple[str, _Read, int]], tuple[str, ...]]:
    readers: dict[int, tuple[str, _Read, int]] = {}
    repeated = []
    for shape in shapes(cls):
        many = _ONE_OF_MANY if shape.repeated else 0
        readers[shape.number << 3 | shape.wire_type] = (shape.name, shape.read, many)
        if shape.repeated:
            repeated.append(shape.name)
            if shape.wire_type != LENGTH:  # numbers arrive packed or one by one, whatever the declaration says
                readers[shape.number << 3 | LENGTH] = (shape.name, _packed(shape.read), _PACK_OF_MANY)
    return readers, tuple(repeated)


def _packed(read: _Read) -> _Read:
    def read_all(data: Buffer, position: int, end: int) -> tuple[list[Any], int]:
        position, stop = read_length(data, position, end)
        if stop - position > REPEATED_MAX * 10:
            raise corrupt("a packed list is too long")
        values = []
        while position < stop:
            value, position = read(data, position, stop)
            values.append(value)
        return values, stop

    return read_all


def _read_bool(data: Buffer, position: int, end: int) -> tuple[bool, int]:
    value, position = read_varint(data, position, end)
    return value != 0, position


def _read_i32(data: Buffer, position: int, end: int) -> tuple[int, int]:
    value, position = read_varint(data, position, end)
    value &= 0xFFFFFFFF
    return (value - (1 << 32) if value >> 31 else value), position


def _read_i64(data: Buffer, position: int, end: int) -> tuple[int, int]:
    value, position = read_varint(data, position, end)
    return (value - (1 << 64) if value >> 63 else value), position


def _read_f32(data: Buffer, position: int, end: int) -> tuple[float, int]:
    return struct.unpack_from("<f", data[:end], position)[0], position + 4


def _read_f64(data: Buffer, position: int, end: int) -> tuple[float, int]:
    return struct.unpack_from("<d", data[:end], position)[0], position + 8


def _read_text(data: Buffer, position: int, end: int) -> tuple[str, int]:
    start, stop = read_length(data, position, end)
    return str(data[start:stop], "utf-8"), stop


def _read_bytes(data: Buffer, position: int, end: int) -> tuple[bytes, int]:
    start, stop = read_length(data, position, end)
    return bytes(data[start:stop]), stop


def _read_payload(data: Buffer, position: int, end: int) -> tuple[Buffer, int]:
    start, stop = read_length(data, position, end)
    return data[start:stop], stop


def _read_message(cls: type) -> _Read:
    def read(data: Buffer, position: int, end: int) -> tuple[Any, int]:
        start, stop = read_length(data, position, end)
        return _decode(cls, data, start, stop), stop

    return read


# -- encoding ---------------------------------------------------------------------------------------------------------


def _encode(message: Any, parts: Parts) -> int:
    size = 0
    for name, write in _writers(type(message)):
        value = getattr(message, name)
        if value is not None:
            size += write(value, parts)
    return size


@cache
def _writers(cls: Any) -> tuple[tuple[str, _Write], ...]:
    return tuple((shape.name, _writer(shape)) for shape in shapes(cls))


def _writer(shape: Shape) -> _Write:
    tag = write_varint(shape.number << 3 | shape.wire_type)
    one = shape.write

    def write_one(value: Any, parts: Parts) -> int:
        parts.append(tag)
        return len(tag) + one(value, parts)

    def write_many(values: Any, parts: Parts) -> int:
        return sum(write_one(value, parts) for value in values)

    def write_packed(values: Any, parts: Parts) -> int:
        if not values:
            return 0
        inner: Parts = []
        size = sum(one(value, inner) for value in values)
        head = write_varint(shape.number << 3 | LENGTH) + write_varint(size)
        parts.append(head)
        parts.append(b"".join(inner))
        return len(head) + size

    if not shape.repeated:
        return write_one
    return write_packed if shape.packed else write_many


def _write_number(value: int, parts: Parts) -> int:
    data = write_varint(value)
    parts.append(data)
    return len(data)


def _write_text(value: str, parts: Parts) -> int:
    return _write_bytes(value.encode(), parts)


def _write_bytes(value: Buffer, parts: Parts) -> int:
    size = len(value)
    head = write_varint(size)
    if size < _VIEW_BYTES_MIN:  # small values are cheaper copied than gathered
        parts.append(head + value)
    else:
        parts.append(head)
        parts.append(value)
    return len(head) + size


def _write_payload(value: Buffer | list[Buffer], parts: Parts) -> int:
    if not isinstance(value, list):
        return _write_bytes(value, parts)
    size = sum(map(len, value))
    head = write_varint(size)
    parts.append(head)
    parts.extend(value)
    return len(head) + size


def _write_f32(value: float, parts: Parts) -> int:
    parts.append(struct.pack("<f", value))
    return 4


def _write_f64(value: float, parts: Parts) -> int:
    parts.append(struct.pack("<d", value))
    return 8


def _write_message(value: Any, parts: Parts) -> int:
    place = len(parts)
    parts.append(b"")
    size = _encode(value, parts)
    head = write_varint(size)
    parts[place] = head
    return len(head) + size


# -- shapes -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What the codec knows of one field."""

    name: str
    number: int
    kind: str
    wire_type: int
    required: bool
    repeated: bool
    packed: bool
    read: _Read
    write: _Write
    message: type | None


_KINDS: dict[str, tuple[int, _Read, _Write]] = {
    "bool": (VARINT, _read_bool, _write_number),
    "i32": (VARINT, _read_i32, _write_number),
    "i64": (VARINT, _read_i64, _write_number),
    "f32": (FIXED32, _read_f32, _write_f32),
    "f64": (FIXED64, _read_f64, _write_f64),
    "str": (LENGTH, _read_text, _write_text),
    "bytes": (LENGTH, _read_bytes, _write_bytes),
    "payload": (LENGTH, _read_payload, _write_payload),
}


@cache
def shapes(cls: Any) -> tuple[Shape, ...]:
    """The fields of a message class in declaration order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found = []
    for declared in dataclasses.fields(cls):
        kind, repeated = _kind(hints[declared.name])
        name = kind if isinstance(kind, str) else kind.__name__
        if isinstance(kind, str):
            wire_type, read, write = _KINDS[kind]
        else:
            wire_type, read, write = LENGTH, _read_message(kind), _write_message
        found.append(
            Shape(
                name=declared.name,
                number=declared.metadata["number"],
                kind=name,
                wire_type=wire_type,
                required=declared.default is dataclasses.MISSING,
                repeated=repeated,
                packed=declared.metadata["packed"],
                read=read,
                write=write,
                message=None if isinstance(kind, str) else kind,
            )
        )
    return tuple(found)


def _kind(hint: Any) -> tuple[str | type, bool]:
    if typing.get_origin(hint) is tuple:
        return _kind(typing.get_args(hint)[0])[0], True
    if typing.get_origin(hint) in {types.UnionType, typing.Union}:
        (inner,) = (a for a in typing.get_args(hint) if a is not type(None))
        return _kind(inner)
    if metadata := getattr(hint, "__metadata__", None):
        return str(metadata[0]), False
    return (hint.__name__ if hint in {bool, str, bytes} else hint), False
