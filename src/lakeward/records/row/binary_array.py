"""Arrays and maps as they lie inside rows of every format.

    array := size:i32 | null bits: ceil(size/32) × 4 bytes | size × slot | padding to 8 | what the slots point to
    map   := bytes of the key array:i32 | key array | value array

Rows inside an array are in the format of the row around it; arrays and maps inside are always as here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.row.row_codec import BlobCodec, RowFormat, is_null, set_null_bits, slice_of
from lakeward.records.row.slots import Area, padding_bytes, slot_of

_SIZE = struct.Struct("<i")


def nested_codec(type_: DataType, row_format: RowFormat) -> BlobCodec:
    """The codec of an ARRAY, MAP or ROW inside a row of the given format."""
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return ArrayCodec(type_.element, row_format)
        case TypeRoot.MAP:
            return MapCodec(type_, row_format)
        case root:
            assert root is TypeRoot.ROW
            return row_format(tuple(f.type for f in type_.fields))


class ArrayCodec:
    """Writes and reads arrays of one element type."""

    def __init__(self, element: DataType, row_format: RowFormat) -> None:
        self._slot = slot_of(element, lambda inner: nested_codec(inner, row_format))

    def encode(self, values: Sequence[Any]) -> bytes:
        """The array as bytes."""
        size = len(values)
        nulls = bytearray(_null_bytes(size))
        set_null_bits(nulls, values)
        width, put, _ = self._slot
        first = _SIZE.size + len(nulls)
        out = bytearray(_SIZE.pack(size) + nulls + bytes(size * width))
        out += bytes(padding_bytes(len(out)))
        for i, value in enumerate(values):
            if value is not None:
                put(out, first + i * width, value)
        return bytes(out)

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """The values of the bytes."""
        (size,) = _SIZE.unpack_from(data)
        width, _, get = self._slot
        first = _SIZE.size + _null_bytes(size)
        if size < 0 or first + size * width > len(data):
            raise ValueError(f"{len(data)} bytes hold no array of {size} elements")
        area = Area(data)
        return tuple(
            None if is_null(data, _SIZE.size, i) else get(area, first + i * width)
            for i in range(size)
        )  # fmt: skip


class MapCodec:
    """Writes and reads maps as a pair of arrays."""

    def __init__(self, type_: DataType, row_format: RowFormat) -> None:
        assert type_.key is not None
        assert type_.value is not None
        self._keys = ArrayCodec(type_.key, row_format)
        self._values = ArrayCodec(type_.value, row_format)

    def encode(self, values: Mapping[Any, Any] | Sequence[tuple[Any, Any]]) -> bytes:
        """The map as bytes."""
        pairs = list(values.items()) if isinstance(values, Mapping) else values
        keys = [k for k, _ in pairs]
        if None in keys:
            raise ValueError("a map has no NULL key")
        encoded = self._keys.encode(keys)
        return _SIZE.pack(len(encoded)) + encoded + self._values.encode([v for _, v in pairs])

    def decode(self, data: bytes) -> tuple[tuple[Any, Any], ...]:
        """The pairs of the bytes."""
        (key_bytes,) = _SIZE.unpack_from(data)
        keys = self._keys.decode(slice_of(data, _SIZE.size, key_bytes))
        values = self._values.decode(data[_SIZE.size + key_bytes :])
        if None in keys:
            raise ValueError("a map has no NULL key")
        return tuple(zip(keys, values, strict=True))


def _null_bytes(size: int) -> int:
    return (size + 31) // 32 * 4
