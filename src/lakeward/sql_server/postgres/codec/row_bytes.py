"""Rows as messages: a whole batch at a time, by Arrow's own loops, with no Python for a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.sql_server.postgres.codec.values_binary import binary_values
from lakeward.sql_server.postgres.codec.values_text import text_values

_HEAD = np.dtype([("letter", "S1"), ("size", ">i4"), ("columns", ">i2")])
_EMPTY = pa.scalar(b"", pa.large_binary())


def data_rows(batch: pa.RecordBatch, formats: Sequence[int], letter: bytes = b"D") -> memoryview:
    """The rows of a batch as DataRow messages, each column as text (0) or binary (1); a `d` makes them binary COPY."""
    pieces: list[Any] = []
    for column, form in zip(batch.columns, formats, strict=True):
        pieces += _size_values((binary_values if form else text_values)(column))
    rows = _join(pieces) if pieces else pa.array([b""] * batch.num_rows, pa.large_binary())
    sizes = pc.binary_length(rows).to_numpy()
    heads = np.zeros(batch.num_rows, _HEAD)
    heads["letter"] = letter
    heads["size"] = sizes + 6
    heads["columns"] = batch.num_columns
    return _bytes_of(_join([_fix_width(heads), rows]))


def copy_lines(batch: pa.RecordBatch, cells: Callable[[Any], pa.Array], between: bytes) -> memoryview:
    """The rows of a batch as lines of COPY, one CopyData message each."""
    columns = [cells(column) for column in batch.columns]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(between, pa.large_binary()))
    lines = _join([lines, pa.scalar(b"\n", pa.large_binary())])
    heads = np.zeros(batch.num_rows, np.dtype([("letter", "S1"), ("size", ">i4")]))
    heads["letter"] = b"d"
    heads["size"] = pc.binary_length(lines).to_numpy() + 4
    return _bytes_of(_join([_fix_width(heads), lines]))


def _size_values(values: pa.Array) -> list[Any]:
    """Sizes and bytes of values; NULL has the size -1 and no bytes."""
    sizes = pc.fill_null(pc.binary_length(values), -1).to_numpy(zero_copy_only=False).astype(">i4")
    return [_fix_width(sizes), pc.fill_null(values, _EMPTY)]


def _join(pieces: Sequence[Any]) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, _EMPTY)


def _fix_width(values: np.ndarray[Any, Any]) -> pa.Array:
    kind = pa.binary(values.dtype.itemsize)
    fixed = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values).tobytes())])
    return fixed.cast(pa.large_binary())


def _bytes_of(values: pa.Array) -> memoryview:
    """The bytes of all values, one behind the other, as they lie in memory."""
    if not len(values):
        return memoryview(b"")
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])] if data is not None else memoryview(b"")
