"""Cells: rows as text where it lies in a buffer, by column; what a replication stream and a COPY have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.capture.postgres.decode.cell_kernels import gather, key_sizes, read_copy, write_keys
from lakeward.capture.postgres.decode.message_kernels import NULL
from lakeward.errors import ErrorCode
from lakeward.records.kernels.spans import I64, U8, read_only


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the text of each column and row starts in `data`, and its length; NULL and UNCHANGED are below zero."""

    data: U8
    starts: I64
    lengths: I64

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.starts.shape[1])

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Cells:
        """Some of the rows."""
        return Cells(self.data, np.ascontiguousarray(self.starts[:, rows]), np.ascontiguousarray(self.lengths[:, rows]))

    def texts(self, column: int) -> pa.Array:
        """A column as it is written, binary."""
        return binary_array(self.data, self.starts[column], self.lengths[column])

    def keys(self, columns: Sequence[int]) -> pa.Array:
        """Some columns of each row as one binary value; equal where all of them are."""
        chosen = np.array(columns, np.int64)
        sizes = np.empty(self.rows, np.int64)
        key_sizes(self.lengths, chosen, sizes)
        offsets = _offsets(sizes)
        out = np.empty(int(offsets[-1]), np.uint8)
        write_keys(self.data, self.starts, self.lengths, chosen, offsets, out)
        return _binary(None, offsets, out, self.rows)


def copy_cells(data: bytes, columns: int) -> Cells:
    """Lines of COPY … TO STDOUT, in its text format."""
    source = read_only(data)
    lines = int(np.count_nonzero(source == ord("\n")))
    starts, lengths = np.empty((columns, lines), np.int64), np.empty((columns, lines), np.int64)
    out = np.empty(len(source), np.uint8)
    rows = lines if columns == 0 else read_copy(source, out, starts, lengths)
    if rows != lines:
        raise ErrorCode.CORRUPT_MESSAGE.error("PostgreSQL answered a COPY with lines that have another shape.")
    return Cells(out, starts, lengths)


def binary_array(data: U8, starts: I64, lengths: I64) -> pa.Array:
    """Stretches of a buffer as a column of their own."""
    sizes = np.maximum(lengths, 0)
    offsets = _offsets(sizes)
    out = np.empty(int(offsets[-1]), np.uint8)
    gather(data, starts, offsets, out)
    return _binary(validity_of(lengths), offsets, out, len(starts))


def validity_of(lengths: I64) -> pa.Buffer | None:
    """The bitmap of Arrow for lengths of which some say that there is nothing."""
    valid = lengths > NULL
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _offsets(sizes: I64) -> I64:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _binary(validity: pa.Buffer | None, offsets: I64, data: U8, rows: int) -> pa.Array:
    buffers = [validity, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), rows, buffers)
