"""Avro, as much of it as manifests are made of: a container's records, read as far as they are wanted.

pyiceberg reads them too, but takes most of a second to be imported, and reads all of every record.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16

#: Reads a value at a position; returns it and the position after it.
Read = Callable[[bytes, int], tuple[Any, int]]


class UnknownAvroError(Exception):
    """Something of Avro that is not read here."""


class AvroFile:
    """An Avro container."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != _MAGIC:
            raise UnknownAvroError("this is no Avro container")
        self._data = data
        self.metadata: dict[str, bytes] = {}
        at = 4
        while True:
            count, at = read_long(data, at)
            if not count:
                break
            if count < 0:
                count, (_, at) = -count, read_long(data, at)
            for _ in range(count):
                key, at = _text(data, at)
                self.metadata[key], at = _bytes(data, at)
        self._begin = at + _SYNC_BYTES
        self.schema: dict[str, Any] = json.loads(self.metadata["avro.schema"])
        self._inflate = _inflater(self.metadata.get("avro.codec", b"null").decode())

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """How many records are in a block, and the block, inflated."""
        data, at = self._data, self._begin
        while at < len(data):
            count, at = read_long(data, at)
            size, at = read_long(data, at)
            block = data[at : at + size]
            yield count, self._inflate(block)
            at += size + _SYNC_BYTES

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, whole."""
        read = reader_of(self.schema)
        for count, block in self.blocks():
            at = 0
            for _ in range(count):
                value, at = read(block, at)
                yield value


def _inflater(codec: str) -> Callable[[bytes], bytes]:
    match codec:
        case "null":
            return bytes
        case "deflate":
            return lambda block: zlib.decompress(block, -zlib.MAX_WBITS)
        case _:  # rare: written by others, who were told to
            from pyiceberg.avro.codecs import KNOWN_CODECS

            known = KNOWN_CODECS.get(codec)  # type: ignore[call-overload]
            if known is None:
                raise UnknownAvroError(f"the codec {codec}")
            inflate: Callable[[bytes], bytes] = known.decompress
            return inflate


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """A number of any size."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at
    value, shift = byte & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def reader_of(schema: Any) -> Read:
    """How values of this schema are read; records are dictionaries, Iceberg's maps with numbers for keys are too."""
    match schema:
        case str() if schema in _PLAIN:
            return _PLAIN[schema]
        case [str() | dict(), str() | dict()] if "null" in schema:
            return _optional(schema)
        case {"type": "record", "fields": list() as fields}:
            return _record([(field["name"], reader_of(field["type"])) for field in fields])
        case {"type": "array", "items": items, "logicalType": "map"}:
            return _pairs(reader_of(items))
        case {"type": "array", "items": items}:
            return _list(reader_of(items))
        case {"type": "fixed", "size": int() as size}:
            return lambda data, at: (data[at : at + size], at + size)
        case {"type": str() as plain} if plain in _PLAIN:
            return _PLAIN[plain]
        case _:
            raise UnknownAvroError(f"the schema {json.dumps(schema)[:200]}")


def _record(fields: list[tuple[str, Read]]) -> Read:
    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        found = {}
        for name, read_field in fields:
            found[name], at = read_field(data, at)
        return found, at

    return read


def _optional(schema: list[Any]) -> Read:
    null = schema.index("null")
    read_value = reader_of(schema[1 - null])

    def read(data: bytes, at: int) -> tuple[Any, int]:
        which, at = data[at] >> 1, at + 1
        return (None, at) if which == null else read_value(data, at)

    return read


def _list(read_item: Read) -> Read:
    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            count, at = read_long(data, at)
            if not count:
                return found, at
            if count < 0:  # the size in bytes follows
                count, (_, at) = -count, read_long(data, at)
            for _ in range(count):
                item, at = read_item(data, at)
                found.append(item)

    return read


def _pairs(read_item: Read) -> Read:
    read_all = _list(read_item)

    def read(data: bytes, at: int) -> tuple[Mapping[Any, Any], int]:
        items, at = read_all(data, at)
        return {item["key"]: item["value"] for item in items}, at

    return read


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = read_long(data, at)
    return data[at : at + size], at + size


def _text(data: bytes, at: int) -> tuple[str, int]:
    size, at = read_long(data, at)
    return data[at : at + size].decode(), at + size


def _boolean(data: bytes, at: int) -> tuple[bool, int]:
    return data[at] == 1, at + 1


def _struct_reader(form: str) -> Read:
    layout = struct.Struct(form)
    return lambda data, at: (layout.unpack_from(data, at)[0], at + layout.size)


_PLAIN: dict[str, Read] = {
    "null": lambda _, at: (None, at),
    "boolean": _boolean,
    "int": read_long,
    "long": read_long,
    "float": _struct_reader("<f"),
    "double": _struct_reader("<d"),
    "bytes": _bytes,
    "string": _text,
}
