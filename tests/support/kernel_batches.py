"""Many rows at a time for the tests of kernels: types, values, rows as bytes, and memory that ends where it ends."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from row_strategies import types as any_types
from row_strategies import unhurried, values

from lakeward.model.data_types import DataType
from lakeward.model.schema import Column, Schema
from lakeward.records.kernels.row_programs import RowForm
from lakeward.records.kernels.spans import read_only
from lakeward.records.row import compacted_row, indexed_row

brisk = settings(unhurried, max_examples=40)
"""For tests that draw whole tables, which takes most of their time."""

FORMS = {RowForm.COMPACTED: compacted_row.codec, RowForm.INDEXED: indexed_row.codec}


def schema_of(types: Sequence[DataType]) -> Schema:
    """A schema of these columns."""
    return Schema.of([Column(f"c{i}", t) for i, t in enumerate(types)])


@st.composite
def tables(
    draw: st.DrawFn, of: st.SearchStrategy[DataType] = any_types, columns_max: int = 9, rows_max: int = 6
) -> tuple[tuple[DataType, ...], list[tuple[Any, ...]]]:
    """Column types and rows of them, NULLs included."""
    types = tuple(draw(st.lists(of, min_size=1, max_size=columns_max)))
    return types, draw(st.lists(st.tuples(*(values(t) for t in types)), max_size=rows_max))


def encoded(form: RowForm, types: Sequence[DataType], rows: Sequence[Sequence[Any]]) -> list[bytes]:
    """Rows as bytes, by the codec that works on one row."""
    codec = FORMS[form](tuple(types))
    return [codec.encode(row) for row in rows]


@contextlib.contextmanager
def guarded(data: bytes) -> Iterator[np.ndarray]:
    """The bytes, behind which memory cannot be read: one byte too far ends the process."""
    size = (len(data) // mmap.PAGESIZE + 1) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.uint8)
    whole[size - len(data) : size] = list(data)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    guard = ctypes.c_void_p(whole.ctypes.data + size), ctypes.c_size_t(mmap.PAGESIZE)
    assert protect(*guard, 0) == 0
    try:
        yield read_only(whole[size - len(data) : size])
    finally:
        assert protect(*guard, mmap.PROT_READ | mmap.PROT_WRITE) == 0
