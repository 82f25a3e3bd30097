"""Programs: what compiled loops are told of columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from kernel_batches import brisk, encoded, tables

from lakeward.model.data_types import ARRAY, BINARY, BOOLEAN, DECIMAL, INT, STRING, TIMESTAMP
from lakeward.records.kernels.row_programs import RowForm, row_program

TYPES = (BOOLEAN(), STRING(), DECIMAL(30, 2), BINARY(3), ARRAY(INT()), TIMESTAMP(6))


def test_a_program_is_made_once() -> None:
    """The same types and form give the same program."""
    assert row_program(TYPES, RowForm.INDEXED) is row_program(tuple(TYPES), RowForm.INDEXED)


def test_heads_grow_with_the_columns_that_a_row_has() -> None:
    """Null bits and, in indexed rows, one length for each column of variable length."""
    assert row_program(TYPES, RowForm.COMPACTED).head_bytes.tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert row_program(TYPES, RowForm.INDEXED).head_bytes.tolist() == [0, 1, 5, 9, 9, 13, 13]
    assert not row_program(TYPES, RowForm.KEY).head_bytes.any()
    assert row_program((INT(),) * 9, RowForm.COMPACTED).head_bytes.tolist() == [0, *[1] * 8, 2]


def test_buffers_are_counted_as_arrow_counts_them() -> None:
    """Text and bytes have three buffers, nested columns too as long as they are bytes, others two."""
    program = row_program(TYPES, RowForm.COMPACTED)
    assert program.runs == (1, 4)
    assert program.first_buffers == (0, 2, 5, 7, 9, 12)
    assert program.value_bytes(9) == [2, 40, 144, 27, 40, 72]
    assert program.nested


@pytest.mark.parametrize("form", [RowForm.COMPACTED, RowForm.INDEXED])
@brisk
@given(table=tables(rows_max=3))
def test_no_row_is_longer_than_its_bound(form: RowForm, table) -> None:
    """Memory for rows is taken by this bound, before they are written."""
    types, lines = table
    bound = row_program(types, form).row_bytes_max
    empty = encoded(form, types, [(None,) * len(types)])
    assert len(empty[0]) <= bound
    scalar = [i for i in range(len(types)) if i not in row_program(types, form).runs]
    for line in lines:
        fixed = tuple(v if i in scalar else None for i, v in enumerate(line))
        assert len(encoded(form, types, [fixed])[0]) <= bound
