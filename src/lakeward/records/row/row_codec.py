"""RowCodec: one row format compiled for one list of column types.

Values are those of `model.values`. Rows carry NULL for any column: whether NULL is welcome is the table's business,
not the format's (a partial update leaves other columns NULL).
"""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType

# What reading damaged bytes and writing unfit values raise below us; translated in one place, here.
_DAMAGED = (IndexError, ValueError, OverflowError, struct.error)
_UNFIT = (TypeError, ValueError, ArithmeticError, AttributeError, struct.error)


class BlobCodec(Protocol):
    """Writes a nested value as bytes and reads it back."""

    def encode(self, values: Any) -> bytes:
        """The value as bytes."""
        ...

    def decode(self, data: bytes) -> Any:
        """The value of the bytes."""
        ...


RowFormat: TypeAlias = "Callable[[tuple[DataType, ...]], RowCodec]"


class RowCodec(ABC):
    """Writes and reads rows of fixed column types in one format."""

    format_name: ClassVar[str]

    def __init__(self, types: Sequence[DataType]) -> None:
        self.types = tuple(types)

    def encode(self, values: Sequence[Any]) -> bytes:
        """One row as bytes."""
        if len(values) != len(self.types):
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"A row of {len(self.types)} columns was given {len(values)} values."
            )
        try:
            return self._encode(values)
        except _UNFIT as wrong:
            raise self._unfit(values, wrong) from wrong

    def decode(self, data: bytes | bytearray | memoryview) -> tuple[Any, ...]:
        """The values of one row; CORRUPT_RECORD when the bytes are not such a row."""
        try:
            return self._decode(bytes(data))
        except _DAMAGED as wrong:
            raise ErrorCode.CORRUPT_RECORD.error(
                f"{len(data)} bytes are not a {self.format_name} row of {len(self.types)} columns: {wrong}"
            ) from wrong

    @abstractmethod
    def _encode(self, values: Sequence[Any]) -> bytes: ...

    @abstractmethod
    def _decode(self, data: bytes) -> tuple[Any, ...]: ...

    def _unfit(self, values: Sequence[Any], wrong: Exception) -> LakewardError:
        """Says which value does not fit, by trying them one by one."""
        for position, (type_, value) in enumerate(zip(self.types, values, strict=True)):
            try:
                type(self)((type_,))._encode((value,))
            except _UNFIT as own:
                return ErrorCode.INVALID_TARGET_COLUMN.error(
                    f"Value {position} of the row, {value!r:.100}, does not fit type {type_}: {own}"
                )
        return ErrorCode.INVALID_TARGET_COLUMN.error(f"The row does not fit its types: {wrong}")


def set_null_bits(nulls: bytearray, values: Sequence[Any], first_bit: int = 0) -> None:
    """Mark each None in a bitmap, lowest bit first."""
    for i, value in enumerate(values, first_bit):
        if value is None:
            nulls[i >> 3] |= 1 << (i & 7)


def is_null(data: bytes, start: int, bit: int) -> bool:
    """Whether a bit of the bitmap that begins at `start` is set."""
    return bool(data[start + (bit >> 3)] >> (bit & 7) & 1)


def slice_of(data: bytes, at: int, length: int) -> bytes:
    """`length` bytes at a position; IndexError when there are fewer."""
    if length < 0 or at + length > len(data):
        raise IndexError(f"{length} bytes at {at} reach past the end, {len(data)}")
    return data[at : at + length]


def minimal_bytes(number: int) -> bytes:
    """Big-endian two's complement in as few bytes as hold the number, at least one."""
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def one_nan(value: float) -> float:
    """The number, with the same bits for every NaN, so that NaN is one key and one element."""
    return value if value == value else math.nan  # only NaN differs from itself
