"""Scalar rows ↔ columns: what is refused before and after the compiled loops."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_batches import encoded

from lakeward.errors import CorruptError
from lakeward.model.data_types import BIGINT, INT, STRING
from lakeward.records.columnar.columns import Columns
from lakeward.records.columnar.flat_rows import decode_flat, encode_flat
from lakeward.records.kernels.row_programs import RowForm, row_program
from lakeward.records.kernels.spans import Spans

TYPES = (BIGINT(), STRING())
PROGRAM = row_program(TYPES, RowForm.COMPACTED)
ROWS = [(1, "one"), (None, None), (3, "three")]
BUFFERS = ("validity of c0", "values of c0", "validity of c1", "offsets of c1", "data of c1")


def columns() -> Columns:
    """Three rows of two columns."""
    return decode_flat(PROGRAM, Spans.of(encoded(RowForm.COMPACTED, TYPES, ROWS)))


def test_nodes_and_buffers_are_those_of_arrow() -> None:
    """Rows and NULLs of each column; validity only where there are NULLs."""
    assert columns().nodes == [3, 1, 3, 1]
    whole = decode_flat(row_program((INT(),), RowForm.COMPACTED), Spans.of([b"\0\x05"]))
    assert whole.nodes == [1, 0]
    assert whole.buffers[1] == 0


@pytest.mark.parametrize("place", range(len(BUFFERS)), ids=BUFFERS)
def test_buffers_that_are_too_short_are_refused(place: int) -> None:
    """A column has the bytes that its rows need, or it is damage."""
    good = columns()
    buffers = list(good.buffers)
    buffers[2 * place + 1] -= 1
    if place in {0, 2}:
        buffers[2 * place + 1] = 0  # no validity at all: every value is there
        assert len(encode_flat(PROGRAM, good._replace(buffers=buffers))[1]) == 4
        return
    with pytest.raises(CorruptError, match=r"not the bytes of 3 rows|out of order"):
        encode_flat(PROGRAM, good._replace(buffers=buffers))


@pytest.mark.parametrize("offsets", [[0, 3, 2, 8], [-1, 3, 3, 8], [0, 3, 3, 9], [4, 3, 3, 8]])
def test_offsets_that_are_out_of_order_are_refused(offsets: list[int]) -> None:
    """Offsets grow, and stay inside their data."""
    good = columns()
    body = good.body.copy()
    at = good.buffers[6]
    body[at : at + 16] = np.array(offsets, "<i4").view(np.uint8)
    body.flags.writeable = False
    with pytest.raises(CorruptError, match="offsets are out of order"):
        encode_flat(PROGRAM, good._replace(body=body))


def test_a_column_of_another_length_is_refused() -> None:
    """All columns have the rows of their batch."""
    with pytest.raises(CorruptError, match="column 1 of type STRING has not the bytes of 3 rows"):
        encode_flat(PROGRAM, columns()._replace(nodes=[3, 1, 2, 1]))
