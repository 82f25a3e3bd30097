"""Many rows ↔ columns at once. They agree with the row codecs on every value.

Rows are spans of buffers, columns lie as in Arrow (see `spans`, `columns`). Scalars go through compiled loops; ARRAY,
MAP and ROW go through the row codecs. Heavy to import: numba comes along.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.model.data_types import DataType
from lakeward.records.columnar.columns import Columns
from lakeward.records.columnar.flat_rows import decode_flat, encode_flat
from lakeward.records.columnar.nested_columns import fold_nested, unfold_nested
from lakeward.records.kernels.row_programs import I64, U8, RowForm, row_program
from lakeward.records.kernels.spans import Spans

__all__ = ["RowForm", "decode_rows", "encode_rows"]


def decode_rows(
    spans: Spans,
    types: Sequence[DataType],
    form: RowForm = RowForm.COMPACTED,
    column_counts: I64 | None = None,
) -> Columns:
    """Rows as columns; CORRUPT_RECORD when one of them is not a row of these types.

    `column_counts` is how many columns each row was written with: fewer where columns were added since, which are NULL.
    """
    program = row_program(tuple(types), form)
    flat = decode_flat(program, spans, column_counts)
    return unfold_nested(flat, program) if program.nested else flat


def encode_rows(columns: Columns, types: Sequence[DataType], form: RowForm = RowForm.COMPACTED) -> tuple[U8, I64]:
    """The columns as rows: all in one buffer, and where each begins and ends (n + 1 bounds)."""
    program = row_program(tuple(types), form)
    return encode_flat(program, fold_nested(columns, program) if program.nested else columns)
