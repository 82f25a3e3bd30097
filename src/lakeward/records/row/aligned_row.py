"""Rows of 8-byte slots: statistics of a batch, and the keys of Paimon, whose own row format this is.

kind:u8 = 0, then null bits, together ceil((n+8)/64) × 8 bytes | n × 8-byte slot | what the slots point to
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from lakeward.model.data_types import DataType
from lakeward.records.row.binary_array import nested_codec
from lakeward.records.row.row_codec import RowCodec, is_null, set_null_bits
from lakeward.records.row.slots import SLOT_BYTES, Area, slot_of

_KIND_BITS = 8


class AlignedRow(RowCodec):
    """The aligned row format for one list of types."""

    format_name = "aligned"

    def __init__(self, types: Sequence[DataType]) -> None:
        super().__init__(types)
        self._slots = tuple(slot_of(t, lambda inner: nested_codec(inner, AlignedRow)) for t in self.types)
        self._head_bytes = (len(self.types) + _KIND_BITS + 63) // 64 * 8
        self._fixed_bytes = self._head_bytes + len(self.types) * SLOT_BYTES

    def _encode(self, values: Sequence[Any]) -> bytes:
        out = bytearray(self._fixed_bytes)
        set_null_bits(out, values, _KIND_BITS)
        for i, (slot, value) in enumerate(zip(self._slots, values, strict=True)):
            if value is not None:
                slot.put(out, self._head_bytes + i * SLOT_BYTES, value)
        return bytes(out)

    def _decode(self, data: bytes) -> tuple[Any, ...]:
        if len(data) < self._fixed_bytes:
            raise ValueError(f"{self._fixed_bytes} bytes are needed")
        area = Area(data)
        return tuple(
            None if is_null(data, 0, i + _KIND_BITS) else slot.get(area, self._head_bytes + i * SLOT_BYTES)
            for i, slot in enumerate(self._slots)
        )


@lru_cache(maxsize=512)
def codec(types: tuple[DataType, ...]) -> AlignedRow:
    """The codec for these types, made once."""
    return AlignedRow(types)


def encode_row(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """One row as bytes."""
    return codec(tuple(types)).encode(values)


def decode_row(types: Sequence[DataType], data: bytes | memoryview) -> tuple[Any, ...]:
    """The values of one row."""
    return codec(tuple(types)).decode(data)
