"""Rows ↔ columns for scalar types: memory laid out, compiled loops called, their verdicts turned into errors.

Columns that are ARRAY, MAP or ROW pass as the bytes they are in rows; `nested_columns` deals with those.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.records.columnar.columns import ALIGNMENT_BYTES, Columns
from lakeward.records.ipc.arrow_message import damage_error
from lakeward.records.kernels import row_decode_kernels, row_encode_kernels
from lakeward.records.kernels.row_programs import (
    CELL,
    CELL_TEXT,
    DATA_AT,
    I64,
    U8,
    VALID_AT,
    VALUES_AT,
    RowProgram,
)
from lakeward.records.kernels.spans import Spans, read_only

_EVERY_COLUMN = np.zeros(0, np.int64)
_WHY = {
    row_decode_kernels.NOT_A_VALUE: "its bytes are not such a value",
    row_decode_kernels.LEFT_OVER: "bytes follow its last column",
    row_decode_kernels.NOT_TEXT: "its text is not UTF-8",
    row_decode_kernels.TOO_LONG: "the column's values together are over 2 GB",
}


def decode_flat(program: RowProgram, spans: Spans, column_counts: I64 | None = None) -> Columns:
    """Rows as columns."""
    starts, ends = spans.starts, spans.ends
    rows, width = len(starts), len(program.types)
    valid_bytes, value_bytes = (rows + 7) // 8, program.value_bytes(rows)
    valid_stride = _align(valid_bytes)
    value_places, fixed_bytes = [], width * valid_stride
    for size in value_bytes:
        value_places.append(fixed_bytes)
        fixed_bytes += _align(size)
    fields = program.fields.copy()
    fields[:, VALID_AT] = np.arange(width) * valid_stride
    fields[:, VALUES_AT] = value_places
    # Every byte of a run comes from a row, so that runs take no more than rows do.
    out = np.zeros(fixed_bytes + int((ends - starts).sum()) + ALIGNMENT_BYTES * len(program.runs), np.uint8)
    out[: width * valid_stride] = 0xFF
    run_starts, nulls = np.empty((len(program.runs), rows), np.int64), np.zeros(width, np.int64)
    assert column_counts is None or len(column_counts) == rows
    counts = _EVERY_COLUMN if column_counts is None else np.ascontiguousarray(column_counts, np.int64)
    status, row, column = row_decode_kernels.decode(
        starts, ends, counts, fields, program.head_bytes, out, run_starts, nulls
    )
    if status != row_decode_kernels.OK:
        _refuse_row(program, status, row, column)
    runs = _gather_runs(program, run_starts, out, value_places, fixed_bytes)
    nodes: list[int] = []
    buffers: list[int] = []
    for i, null_count in enumerate(nulls.tolist()):
        nodes += (rows, null_count)
        buffers += (i * valid_stride, valid_bytes if null_count else 0, value_places[i], value_bytes[i])
        buffers += runs.get(i, ())
    return Columns(rows, read_only(out), nodes, buffers)


def _gather_runs(
    program: RowProgram, run_starts: I64, out: U8, value_places: list[int], at: int
) -> dict[int, tuple[int, int]]:
    """Put the bytes of text and byte columns behind the rest, one column after the other; where they stand."""
    runs = {}
    for place, column in enumerate(program.runs):
        is_text = bool(program.fields[column, CELL] == CELL_TEXT)
        status, row, size = row_decode_kernels.gather_runs(run_starts[place], is_text, out, value_places[column], at)
        if status != row_decode_kernels.OK:
            _refuse_row(program, status, row, column)
        runs[column] = at, size
        at += _align(size)
    return runs


def encode_flat(program: RowProgram, columns: Columns) -> tuple[U8, I64]:
    """The columns as rows, and where each begins and ends (n + 1 bounds)."""
    rows, run_bytes = columns.rows, 0
    fields = program.fields.copy()
    for i, (place, needed) in enumerate(zip(program.first_buffers, program.value_bytes(rows), strict=True)):
        valid_at, valid_bytes, values_at, values_bytes = columns.buffers[2 * place : 2 * place + 4]
        short = rows and (0 < valid_bytes < (rows + 7) // 8 or values_bytes < needed)
        if short or columns.nodes[2 * i] != rows:
            raise damage_error(f"column {i} of type {program.types[i]} has not the bytes of {rows} rows")
        fields[i, VALID_AT] = valid_at if valid_bytes else -1
        fields[i, VALUES_AT] = values_at
        if i in program.runs:
            fields[i, DATA_AT], data_bytes = columns.buffers[2 * place + 4 : 2 * place + 6]
            if rows and not row_encode_kernels.offsets_grow(columns.body, values_at, rows, data_bytes):
                raise damage_error(f"offsets are out of order: column {i} of type {program.types[i]}")
            run_bytes += data_bytes
    out, bounds = np.empty(rows * program.row_bytes_max + run_bytes, np.uint8), np.zeros(rows + 1, np.int64)
    status, row, column = row_encode_kernels.encode(
        columns.body, rows, fields, int(program.head_bytes[-1]), program.null_bytes, out, bounds
    )
    if status != row_encode_kernels.OK:
        _refuse_cell(program, status, row, column)
    return out[: bounds[-1]], bounds


def _align(size: int) -> int:
    return size + -size % ALIGNMENT_BYTES


def _refuse_row(program: RowProgram, status: int, row: int, column: int) -> NoReturn:
    where = f"row {row}" if column < 0 else f"row {row}, column {column} of type {program.types[column]}"
    if status == row_decode_kernels.UNFIT:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"A value does not fit its column in Arrow: {where}.")
    raise ErrorCode.CORRUPT_RECORD.error(
        f"The bytes are not {program.form.lower()} rows of {len(program.types)} columns: {where}: {_WHY[status]}."
    )


def _refuse_cell(program: RowProgram, status: int, row: int, column: int) -> NoReturn:
    where = f"row {row}, column {column} of type {program.types[column]}"
    if status == row_encode_kernels.NULL_KEY:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"A key column must not be NULL: {where}.")
    assert status == row_encode_kernels.UNFIT
    raise ErrorCode.INVALID_TARGET_COLUMN.error(f"A value does not fit its column: {where}.")
