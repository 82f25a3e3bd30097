"""Cells: the values of one column, each a stretch of bytes in what the server sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakeward.capture.mysql.cells.cell_kernels import copy_cells, copy_fixed_cells, measure_cells

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cells:
    """`starts` in `data`, `lengths` in bytes; a length of -1 is NULL."""

    data: U8
    starts: I64
    lengths: I32

    def __len__(self) -> int:
        return len(self.starts)

    def validity(self, absent: Any = None) -> pa.Buffer | None:
        """Which values are there, as Arrow wants it; `absent` marks more that are not."""
        there = self.lengths >= 0
        if absent is not None:
            there &= ~absent
        return None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))

    def numbers(self, values: npt.NDArray[Any], type_: pa.DataType, absent: Any = None) -> pa.Array:
        """An Arrow array of numbers that were made of these cells."""
        return pa.Array.from_buffers(type_, len(self), [self.validity(absent), pa.py_buffer(values)])

    def integers(self, values: I64, type_: pa.DataType) -> pa.Array:
        """Whole numbers in a type that holds them; those above 2**63 are the same 64 bits."""
        if not pa.types.is_decimal(type_):
            return self.numbers(values.astype(type_.to_pandas_dtype()), type_)
        halves = np.zeros(2 * len(self), np.uint64)
        halves[::2] = values.view(np.uint64)
        return self.numbers(halves, type_)

    def booleans(self) -> pa.Array:
        """Bits that stand in a byte each."""
        bits = np.packbits(self.fixed_bytes(1) != 0, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(self), [self.validity(), pa.py_buffer(bits)])

    def binary(self, type_: pa.DataType = pa.binary()) -> pa.Array:  # noqa: B008 - a type is a value
        """The bytes themselves, as a column of texts or bytes."""
        offsets = np.empty(len(self) + 1, np.int32)
        total = measure_cells(self.lengths, offsets)
        values = np.empty(max(total, 1), np.uint8)
        copy_cells(self.data, self.starts, self.lengths, offsets, values)
        buffers = [self.validity(), pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(type_, len(self), buffers)

    def fixed_bytes(self, width: int) -> U8:
        """Values of `width` bytes side by side; shorter ones have zeros at their end."""
        values = np.zeros(len(self) * width, np.uint8)
        copy_fixed_cells(self.data, self.starts, self.lengths, width, values)
        return values

    def slice(self, begin: int, end: int) -> Cells:
        """Some of them."""
        return Cells(self.data, self.starts[begin:end], self.lengths[begin:end])


def cells_of_arrow(texts: pa.Array) -> Cells:
    """The cells of a column of texts or bytes that pyarrow made."""
    texts = texts.cast(pa.binary())
    _, offset_buffer, values = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(offsets).astype(np.int32)
    lengths[np.asarray(texts.is_null())] = -1
    data = np.zeros(1, np.uint8) if values is None or not values.size else np.frombuffer(values, np.uint8)
    return Cells(data, offsets[:-1].astype(np.int64), lengths)
