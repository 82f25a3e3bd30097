"""Nested columns: bytes in rows, trees in Arrow."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from kernel_batches import brisk, encoded, schema_of, tables

from lakeward.errors import CorruptError, InvalidError
from lakeward.model.data_types import ARRAY, CHAR, INT, MAP, ROW, STRING
from lakeward.records.arrow.arrow_row_kernels import arrow_of_columns, columns_of_arrow
from lakeward.records.columnar.columns import Columns, places_of
from lakeward.records.columnar.nested_columns import values_of
from lakeward.records.columnar.row_kernels import RowForm, decode_rows, encode_rows
from lakeward.records.kernels.spans import Spans

TREE = ROW([("a", ARRAY(MAP(STRING(), INT()))), ("b", STRING())])
ROWS = [(((((("k", 1), ("l", None)),), "x")),), (None,), ((None, None),), (((), ""),)]


@brisk
@given(tables())
def test_values_of_columns_are_the_values_of_rows(table) -> None:
    """A tree of columns holds what was put in."""
    types, lines = table
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, types, lines)), types)
    places = places_of(types)
    parts = [values_of(columns, t, places.nodes[i], places.buffers[i]) for i, t in enumerate(types)]
    assert [tuple(p[i] for p in parts) for i in range(len(lines))] == lines


def test_trees_of_arrow_are_read_also_when_sliced() -> None:
    """pyarrow's own arrays, some of their rows, become the same bytes."""
    raw = encoded(RowForm.COMPACTED, [TREE], ROWS)
    batch = arrow_of_columns(decode_rows(Spans.of(raw), [TREE]), schema_of([TREE]))
    batch.validate(full=True)
    for piece in (batch, batch.slice(1), batch.slice(2, 1), pa.concat_batches([batch, batch]).slice(3, 4)):
        rows = encode_rows(columns_of_arrow(piece, schema_of([TREE])), [TREE])[0].tobytes()
        assert rows == encode_rows(columns_of_arrow(pa.concat_batches([piece]), schema_of([TREE])), [TREE])[0].tobytes()
    assert encode_rows(columns_of_arrow(batch.slice(1), schema_of([TREE])), [TREE])[0].tobytes() == b"".join(raw[1:])


def test_damaged_values_are_named() -> None:
    """The refusal says which column holds no such value."""
    row = encoded(RowForm.COMPACTED, [INT(), ARRAY(INT())], [(1, (2, 3))])[0]
    damaged = row.replace(b"\x02\0\0\0", b"\xff\xff\xff\x7f", 1)
    with pytest.raises(CorruptError, match="A value is no ARRAY<INT>, column 1"):
        decode_rows(Spans.of([damaged]), [INT(), ARRAY(INT())])


@pytest.mark.parametrize(
    ("node", "buffer", "why"),
    [
        ((2, 1), None, "2 values are cut off"),
        (None, (2, 4), "offsets of 1 values are cut off"),
        (None, (3, 0), "has not the bytes of"),
    ],
)
def test_damaged_trees_are_corrupt(node, buffer, why: str) -> None:
    """Lengths of nodes and buffers are checked before anything is read."""
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, [ARRAY(INT())], [((7, 8),)])), [ARRAY(INT())])
    nodes, buffers = list(columns.nodes), list(columns.buffers)
    if node is not None:
        nodes[0] = node[0]
        buffers[0:2] = 0, 0
    if buffer is not None:
        buffers[2 * buffer[0] - 1 if buffer[0] == 2 else 2 * buffer[0] + 1] = buffer[1]
    with pytest.raises(CorruptError, match=why):
        values_of(Columns(nodes[0], columns.body, nodes, buffers), ARRAY(INT()))


def test_values_that_do_not_fit_are_named() -> None:
    """Text of an indexed CHAR has its bytes, also inside an array."""
    type_ = ROW([("a", CHAR(2))])
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, [type_], [(("abc",),)])), [type_])
    with pytest.raises(InvalidError, match="does not fit"):
        encode_rows(columns, [type_], RowForm.INDEXED)
