"""Rows with the lengths of their variable fields up front.

    null bits: ceil(n/8) bytes | lengths: i32 for each variable-length column | fields in order; a NULL takes no bytes

The k-th variable field that is not NULL has its length in the k-th place; places left over stay 0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import (
    DECIMAL_COMPACT_DIGITS_MAX,
    TIMESTAMP_COMPACT_PRECISION_MAX,
    Timestamp,
    checked_nanos,
    decimal_of,
    unscaled_of,
)
from lakeward.records.row.binary_array import nested_codec
from lakeward.records.row.row_codec import RowCodec, is_null, minimal_bytes, set_null_bits, slice_of

_LENGTH = struct.Struct("<i")


class _Field(NamedTuple):
    width: int | None  # None: variable, the length stands in the list
    put: Callable[[Any], bytes]
    get: Callable[[bytes], Any]


class IndexedRow(RowCodec):
    """The indexed row format for one list of types."""

    format_name = "indexed"

    def __init__(self, types: Sequence[DataType]) -> None:
        super().__init__(types)
        self._fields = tuple(_field_of(t) for t in self.types)
        self._null_bytes = (len(self.types) + 7) // 8
        self._head_bytes = self._null_bytes + _LENGTH.size * sum(f.width is None for f in self._fields)

    def _encode(self, values: Sequence[Any]) -> bytes:
        out = bytearray(self._head_bytes)
        set_null_bits(out, values)
        place = self._null_bytes
        for field, value in zip(self._fields, values, strict=True):
            if value is None:
                continue
            raw = field.put(value)
            if field.width is None:
                _LENGTH.pack_into(out, place, len(raw))
                place += _LENGTH.size
            out += raw
        return bytes(out)

    def _decode(self, data: bytes) -> tuple[Any, ...]:
        at, place = self._head_bytes, self._null_bytes
        values: list[Any] = []
        for i, field in enumerate(self._fields):
            if is_null(data, 0, i):
                values.append(None)
                continue
            length = field.width
            if length is None:
                (length,) = _LENGTH.unpack_from(data, place)
                place += _LENGTH.size
            values.append(field.get(slice_of(data, at, length)))
            at += length
        if at != len(data):
            raise ValueError(f"the row ends at byte {at}")
        return tuple(values)


@lru_cache(maxsize=512)
def codec(types: tuple[DataType, ...]) -> IndexedRow:
    """The codec for these types, made once."""
    return IndexedRow(types)


def encode_row(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """One row as bytes."""
    return codec(tuple(types)).encode(values)


def decode_row(types: Sequence[DataType], data: bytes | memoryview) -> tuple[Any, ...]:
    """The values of one row."""
    return codec(tuple(types)).decode(data)


def _field_of(type_: DataType) -> _Field:
    match type_.root:
        case TypeRoot.BOOLEAN:
            return _fixed_field("<?")
        case TypeRoot.TINYINT:
            return _fixed_field("<b")
        case TypeRoot.SMALLINT:
            return _fixed_field("<h")
        case TypeRoot.INTEGER | TypeRoot.DATE | TypeRoot.TIME:
            return _fixed_field("<i")
        case TypeRoot.BIGINT:
            return _fixed_field("<q")
        case TypeRoot.FLOAT:
            return _fixed_field("<f")
        case TypeRoot.DOUBLE:
            return _fixed_field("<d")
        case TypeRoot.CHAR:
            assert type_.length is not None
            pad = _padder(type_.length)
            return _Field(type_.length, lambda v: pad(v.encode()), lambda raw: raw.rstrip(b"\0").decode())
        case TypeRoot.BINARY:
            assert type_.length is not None
            # Apache Fluss strips trailing zeros here and so loses some; a BINARY(n) always has n bytes for us.
            return _Field(type_.length, _padder(type_.length), lambda raw: raw)
        case TypeRoot.STRING:
            return _Field(None, lambda v: v.encode(), lambda raw: raw.decode())
        case TypeRoot.BYTES:
            return _Field(None, bytes, lambda raw: raw)
        case TypeRoot.DECIMAL:
            return _decimal(type_)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamp(type_)
        case TypeRoot.ARRAY | TypeRoot.MAP | TypeRoot.ROW:
            inner = nested_codec(type_, IndexedRow)
            return _Field(None, inner.encode, inner.decode)


def _fixed_field(layout: str) -> _Field:
    packer = struct.Struct(layout)
    return _Field(packer.size, packer.pack, lambda raw: packer.unpack(raw)[0])


def _padder(length: int) -> Callable[[bytes], bytes]:
    def pad(raw: bytes) -> bytes:
        if len(raw) > length:
            raise ValueError(f"{len(raw)} bytes are more than {length}")
        return raw.ljust(length, b"\0")

    return pad


def _decimal(type_: DataType) -> _Field:
    assert type_.precision is not None
    assert type_.scale is not None
    precision, scale = type_.precision, type_.scale
    if precision <= DECIMAL_COMPACT_DIGITS_MAX:
        packer = struct.Struct("<q")
        return _Field(
            packer.size,
            lambda v: packer.pack(unscaled_of(v, precision, scale)),
            lambda raw: decimal_of(packer.unpack(raw)[0], precision, scale),
        )
    return _Field(
        None,
        lambda v: minimal_bytes(unscaled_of(v, precision, scale)),
        lambda raw: decimal_of(int.from_bytes(raw, "big", signed=True), precision, scale),
    )


def _timestamp(type_: DataType) -> _Field:
    assert type_.precision is not None
    if type_.precision <= TIMESTAMP_COMPACT_PRECISION_MAX:
        millis = struct.Struct("<q")
        return _Field(millis.size, lambda v: millis.pack(v[0]), lambda raw: Timestamp(*millis.unpack(raw)))
    both = struct.Struct("<qi")

    def get(raw: bytes) -> Timestamp:
        epoch_ms, nano_of_ms = both.unpack(raw)
        return Timestamp(epoch_ms, checked_nanos(nano_of_ms))

    return _Field(both.size, lambda v: both.pack(v[0], checked_nanos(v[1])), get)
