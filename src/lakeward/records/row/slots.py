"""Slots: a value in a fixed number of bytes, or a pointer to where it lies behind the slots.

Arrays and aligned rows share them. A pointer is (length, offset), both 32 bits, the offset counted from the start of
the array or row. Text and bytes of up to 7 bytes lie in the slot itself; the eighth byte is then 0x80 | length.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
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
from lakeward.records.row.row_codec import BlobCodec, minimal_bytes, one_nan, slice_of

SLOT_BYTES = 8
_INLINE_BYTES_MAX = 7
_DECIMAL_AREA_BYTES = 16
_POINTER = struct.Struct("<II")
_I64 = struct.Struct("<q")


class Area:
    """An array or a row being read. Pointers may together reach no more bytes than it has.

    Without that budget a damaged array of n pointers to one blob of n bytes would unfold to n² bytes.
    """

    __slots__ = ("_budget_bytes", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._budget_bytes = len(data)

    def blob(self, offset: int, length: int) -> bytes:
        """The bytes a pointer leads to."""
        self._budget_bytes -= length
        if self._budget_bytes < 0:
            raise ValueError("pointers reach more bytes than there are")
        return slice_of(self.data, offset, length)


class Slot(NamedTuple):
    """How a value is put into a slot at a position, and read from it. `width` is its size in an array."""

    width: int
    put: Callable[[bytearray, int, Any], None]
    get: Callable[[Area, int], Any]


def padding_bytes(length: int) -> int:
    """How many bytes are missing to a multiple of 8."""
    return -length % SLOT_BYTES


def slot_of(type_: DataType, nested: Callable[[DataType], BlobCodec]) -> Slot:
    """How values of this type lie in slots; `nested` makes the codec of an ARRAY, MAP or ROW."""
    match type_.root:
        case TypeRoot.BOOLEAN:
            return _fixed_slot("<?")
        case TypeRoot.TINYINT:
            return _fixed_slot("<b")
        case TypeRoot.SMALLINT:
            return _fixed_slot("<h")
        case TypeRoot.INTEGER | TypeRoot.DATE | TypeRoot.TIME:
            return _fixed_slot("<i")
        case TypeRoot.BIGINT:
            return _fixed_slot("<q")
        case TypeRoot.FLOAT:
            return _floating("<f")
        case TypeRoot.DOUBLE:
            return _floating("<d")
        case TypeRoot.CHAR | TypeRoot.STRING:
            return Slot(SLOT_BYTES, _put_text, _get_text)
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return Slot(SLOT_BYTES, _put_bytes, _get_bytes)
        case TypeRoot.DECIMAL:
            return _decimal(type_)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            assert type_.precision is not None
            if type_.precision <= TIMESTAMP_COMPACT_PRECISION_MAX:
                return Slot(SLOT_BYTES, _put_millis, _get_millis)
            return Slot(SLOT_BYTES, _put_nanos, _get_nanos)
        case TypeRoot.ARRAY | TypeRoot.MAP | TypeRoot.ROW:
            return _nested_slot(nested(type_))


def _fixed_slot(layout: str) -> Slot:
    packer = struct.Struct(layout)

    def get(area: Area, at: int) -> Any:
        return packer.unpack_from(area.data, at)[0]

    return Slot(packer.size, packer.pack_into, get)


def _floating(layout: str) -> Slot:
    width, put, get = _fixed_slot(layout)
    return Slot(width, lambda out, at, value: put(out, at, one_nan(value)), get)


def _put_blob(out: bytearray, at: int, value: bytes) -> None:
    _POINTER.pack_into(out, at, len(value), len(out))
    out += value
    out += bytes(padding_bytes(len(value)))


def _put_bytes(out: bytearray, at: int, value: bytes) -> None:
    length = len(value)
    if length > _INLINE_BYTES_MAX:
        _put_blob(out, at, value)
    else:
        out[at : at + length] = value
        out[at + _INLINE_BYTES_MAX] = 0x80 | length


def _get_bytes(area: Area, at: int) -> bytes:
    mark = area.data[at + _INLINE_BYTES_MAX]
    if mark & 0x80:
        length = mark & 0x7F
        if length > _INLINE_BYTES_MAX:
            raise ValueError(f"{length} bytes do not lie in one slot")
        return area.data[at : at + length]
    length, offset = _POINTER.unpack_from(area.data, at)
    return area.blob(offset, length)


def _put_text(out: bytearray, at: int, value: str) -> None:
    _put_bytes(out, at, value.encode())


def _get_text(area: Area, at: int) -> str:
    return _get_bytes(area, at).decode()


def _put_millis(out: bytearray, at: int, value: Timestamp) -> None:
    _I64.pack_into(out, at, value[0])


def _get_millis(area: Area, at: int) -> Timestamp:
    return Timestamp(_I64.unpack_from(area.data, at)[0])


def _put_nanos(out: bytearray, at: int, value: Timestamp) -> None:
    epoch_ms, nano_of_ms = value
    _POINTER.pack_into(out, at, checked_nanos(nano_of_ms), len(out))
    out += _I64.pack(epoch_ms)


def _get_nanos(area: Area, at: int) -> Timestamp:
    nano_of_ms, offset = _POINTER.unpack_from(area.data, at)
    return Timestamp(_I64.unpack(area.blob(offset, _I64.size))[0], checked_nanos(nano_of_ms))


def _decimal(type_: DataType) -> Slot:
    assert type_.precision is not None
    assert type_.scale is not None
    precision, scale = type_.precision, type_.scale

    def put_short(out: bytearray, at: int, value: Any) -> None:
        _I64.pack_into(out, at, unscaled_of(value, precision, scale))

    def get_short(area: Area, at: int) -> Any:
        return decimal_of(_I64.unpack_from(area.data, at)[0], precision, scale)

    def put_long(out: bytearray, at: int, value: Any) -> None:
        raw = minimal_bytes(unscaled_of(value, precision, scale))
        _POINTER.pack_into(out, at, len(raw), len(out))
        out += raw.ljust(_DECIMAL_AREA_BYTES, b"\0")

    def get_long(area: Area, at: int) -> Any:
        length, offset = _POINTER.unpack_from(area.data, at)
        return decimal_of(int.from_bytes(area.blob(offset, length), "big", signed=True), precision, scale)

    if precision <= DECIMAL_COMPACT_DIGITS_MAX:
        return Slot(SLOT_BYTES, put_short, get_short)
    return Slot(SLOT_BYTES, put_long, get_long)


def _nested_slot(inner: BlobCodec) -> Slot:
    def put(out: bytearray, at: int, value: Any) -> None:
        _put_blob(out, at, inner.encode(value))

    def get(area: Area, at: int) -> Any:
        length, offset = _POINTER.unpack_from(area.data, at)
        return inner.decode(area.blob(offset, length))

    return Slot(SLOT_BYTES, put, get)
