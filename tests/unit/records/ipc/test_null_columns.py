"""Columns without values have the nodes and buffers that Arrow gives them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_message
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import types

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.ipc.arrow_message import column_shape, read_message
from lakeward.records.ipc.null_columns import null_buffers, null_nodes


@given(types, st.integers(0, 70))
def test_the_shape_is_that_of_the_type(type_: DataType, rows: int) -> None:
    """As many nodes and buffers as a column of the type has; the first node counts every row as NULL."""
    nodes, buffers = list(null_nodes(type_, rows)), list(null_buffers(type_, rows))
    assert (len(nodes) // 2, len(buffers)) == column_shape(type_)
    assert nodes[:2] == [rows, rows]


@given(types, st.integers(1, 70))
def test_arrow_reads_them_as_nulls(type_: DataType, rows: int) -> None:
    """Buffers of zeros of these sizes are a valid column of NULLs."""
    arrow = arrow_type(type_)
    written = arrow_message(pa.record_batch({"c": pa.nulls(rows, arrow)}))
    theirs = read_message(written, 0, len(written))
    ours = list(null_buffers(type_, rows))
    assert len(theirs.buffers) // 2 == len(ours)
    column = _column(arrow, rows, iter([pa.py_buffer(bytes(size)) for size in ours]))
    column.validate(full=True)
    assert column.null_count == rows


def _column(arrow: pa.DataType, rows: int, buffers: object) -> pa.Array:
    """An array over these buffers, children first as Arrow lists them."""
    own = [next(buffers) for _ in range(_own_buffers(arrow))]  # type: ignore[call-overload]
    inner_rows = rows if pa.types.is_struct(arrow) else 0
    if pa.types.is_map(arrow):
        entries = pa.struct([arrow.key_field, arrow.item_field])
        children = [_column(entries, 0, buffers)]
    else:
        children = [_column(arrow.field(i).type, inner_rows, buffers) for i in range(arrow.num_fields)]
    return pa.Array.from_buffers(arrow, rows, own, rows, children=children or None)


def _own_buffers(arrow: pa.DataType) -> int:
    if pa.types.is_struct(arrow):
        return 1
    return 3 if pa.types.is_string(arrow) or pa.types.is_binary(arrow) else 2


def test_more_rows_than_memory_are_refused() -> None:
    """A batch that claims billions of rows cannot make the server fill memory with zeros."""
    with pytest.raises(InvalidError) as caught:
        list(null_buffers(t.BIGINT(), 2**31 - 1))
    assert caught.value.code is ErrorCode.INVALID_COLUMN_PROJECTION
