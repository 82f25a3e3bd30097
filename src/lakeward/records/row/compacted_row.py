"""Rows packed tight: null bitmap, then the fields one after the other. The default for key/value tables.

    null bits: ceil(n/8) bytes, lowest bit first, set = NULL | fields in order; a NULL takes no bytes

The field encodings alone, without the bitmap, also make the default key (`key_encoding`).
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
from lakeward.records.row import varint
from lakeward.records.row.binary_array import nested_codec
from lakeward.records.row.row_codec import BlobCodec, RowCodec, is_null, minimal_bytes, one_nan, set_null_bits, slice_of


class Field(NamedTuple):
    """How one column is written and read."""

    put: Callable[[bytearray, Any], None]
    get: Callable[[bytes, int], tuple[Any, int]]


class CompactedRow(RowCodec):
    """The compacted row format for one list of types."""

    format_name = "compacted"

    def __init__(self, types: Sequence[DataType]) -> None:
        super().__init__(types)
        self._null_bytes = (len(self.types) + 7) // 8
        self._fields = tuple(field_of(t) for t in self.types)

    def _encode(self, values: Sequence[Any]) -> bytes:
        out = bytearray(self._null_bytes)
        set_null_bits(out, values)
        for field, value in zip(self._fields, values, strict=True):
            if value is not None:
                field.put(out, value)
        return bytes(out)

    def _decode(self, data: bytes) -> tuple[Any, ...]:
        at = self._null_bytes
        values: list[Any] = []
        for i, field in enumerate(self._fields):
            if is_null(data, 0, i):
                values.append(None)
            else:
                value, at = field.get(data, at)
                values.append(value)
        if at != len(data):
            raise ValueError(f"the row ends at byte {at}")
        return tuple(values)


@lru_cache(maxsize=512)
def codec(types: tuple[DataType, ...]) -> CompactedRow:
    """The codec for these types, made once."""
    return CompactedRow(types)


def encode_row(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """One row as bytes."""
    return codec(tuple(types)).encode(values)


def decode_row(types: Sequence[DataType], data: bytes | memoryview) -> tuple[Any, ...]:
    """The values of one row."""
    return codec(tuple(types)).decode(data)


def field_of(type_: DataType) -> Field:
    """How a column of this type is written and read."""
    match type_.root:
        case TypeRoot.BOOLEAN:
            return Field(lambda out, value: out.append(1 if value else 0), lambda data, at: (data[at] != 0, at + 1))
        case TypeRoot.TINYINT:
            return _fixed_field("<b")
        case TypeRoot.SMALLINT:
            return _fixed_field("<h")
        case TypeRoot.FLOAT:
            return _floating("<f")
        case TypeRoot.DOUBLE:
            return _floating("<d")
        case TypeRoot.INTEGER | TypeRoot.DATE | TypeRoot.TIME:
            return Field(varint.put_i32, varint.get_i32)
        case TypeRoot.BIGINT:
            return Field(varint.put_i64, varint.get_i64)
        case TypeRoot.CHAR | TypeRoot.STRING:
            return Field(_put_text, _get_text)
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return Field(_put_bytes, _get_bytes)
        case TypeRoot.DECIMAL:
            return _decimal(type_)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            assert type_.precision is not None
            if type_.precision <= TIMESTAMP_COMPACT_PRECISION_MAX:
                return Field(_put_millis, _get_millis)
            return Field(_put_nanos, _get_nanos)
        case TypeRoot.ARRAY | TypeRoot.MAP | TypeRoot.ROW:
            return _nested_field(nested_codec(type_, CompactedRow))


def _fixed_field(layout: str) -> Field:
    packer = struct.Struct(layout)

    def put(out: bytearray, value: Any) -> None:
        out += packer.pack(value)

    def get(data: bytes, at: int) -> tuple[Any, int]:
        return packer.unpack_from(data, at)[0], at + packer.size

    return Field(put, get)


def _floating(layout: str) -> Field:
    put, get = _fixed_field(layout)
    return Field(lambda out, value: put(out, one_nan(value)), get)


def _put_bytes(out: bytearray, value: bytes) -> None:
    varint.put_unsigned(out, len(value))
    out += value


def _get_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = varint.get_u32(data, at)
    return slice_of(data, at, length), at + length


def _put_text(out: bytearray, value: str) -> None:
    _put_bytes(out, value.encode())


def _get_text(data: bytes, at: int) -> tuple[str, int]:
    value, at = _get_bytes(data, at)
    return value.decode(), at


def _decimal(type_: DataType) -> Field:
    assert type_.precision is not None
    assert type_.scale is not None
    precision, scale = type_.precision, type_.scale

    def put_short(out: bytearray, value: Any) -> None:
        varint.put_i64(out, unscaled_of(value, precision, scale))

    def get_short(data: bytes, at: int) -> tuple[Any, int]:
        unscaled, at = varint.get_i64(data, at)
        return decimal_of(unscaled, precision, scale), at

    def put_long(out: bytearray, value: Any) -> None:
        _put_bytes(out, minimal_bytes(unscaled_of(value, precision, scale)))

    def get_long(data: bytes, at: int) -> tuple[Any, int]:
        raw, at = _get_bytes(data, at)
        return decimal_of(int.from_bytes(raw, "big", signed=True), precision, scale), at

    return Field(put_short, get_short) if precision <= DECIMAL_COMPACT_DIGITS_MAX else Field(put_long, get_long)


def _put_millis(out: bytearray, value: Timestamp) -> None:
    varint.put_i64(out, value[0])


def _get_millis(data: bytes, at: int) -> tuple[Timestamp, int]:
    epoch_ms, at = varint.get_i64(data, at)
    return Timestamp(epoch_ms), at


def _put_nanos(out: bytearray, value: Timestamp) -> None:
    epoch_ms, nano_of_ms = value
    varint.put_i64(out, epoch_ms)
    varint.put_unsigned(out, checked_nanos(nano_of_ms))


def _get_nanos(data: bytes, at: int) -> tuple[Timestamp, int]:
    epoch_ms, at = varint.get_i64(data, at)
    nano_of_ms, at = varint.get_u32(data, at)
    return Timestamp(epoch_ms, checked_nanos(nano_of_ms)), at


def _nested_field(inner: BlobCodec) -> Field:
    def put(out: bytearray, value: Any) -> None:
        _put_bytes(out, inner.encode(value))

    def get(data: bytes, at: int) -> tuple[Any, int]:
        raw, at = _get_bytes(data, at)
        return inner.decode(raw), at

    return Field(put, get)
