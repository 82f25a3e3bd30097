"""What compiled loops do with each column, as tables of numbers: how a field lies in a row, how a cell lies in Arrow.

One loop serves all types and both row formats, so it is compiled once and a batch of one row costs one call, not one
per column. A program is made once for a list of types and a format.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.model.values import DECIMAL_COMPACT_DIGITS_MAX, TIMESTAMP_COMPACT_PRECISION_MAX

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]


class RowForm(enum.StrEnum):
    """How rows are written. A KEY is a compacted row without null bits."""

    COMPACTED = "COMPACTED"
    INDEXED = "INDEXED"
    KEY = "KEY"


# Fields: how a value lies in a row.
FIELD_1, FIELD_2, FIELD_4, FIELD_8, FIELD_12 = range(5)  # so many bytes; 12: milliseconds, then nanoseconds
FIELD_FLOAT, FIELD_DOUBLE = 5, 6  # as 4 and 8, with one bit pattern for NaN
FIELD_VARINT_32, FIELD_VARINT_64, FIELD_VARINT_NANOS = 7, 8, 9  # NANOS: milliseconds, then nanoseconds
FIELD_RUN, FIELD_LISTED = 10, 11  # bytes whose length stands before them, or in the list at the row's start
FIELD_PADDED, FIELD_PADDED_TEXT = 12, 13  # n bytes; of text, zeros at the end are padding

# Cells: how a value lies in a column.
CELL_BIT, CELL_1, CELL_2, CELL_4, CELL_8 = range(5)
CELL_UNITS = 5  # milliseconds and nanoseconds as one number of units
CELL_DECIMAL, CELL_BIG_DECIMAL = 6, 7  # 16 bytes, from a number or from big-endian bytes
CELL_BYTES, CELL_TEXT, CELL_FIXED = 8, 9, 10

_OFFSET_BYTES = _LENGTH_BYTES = 4
_RUNS = {CELL_BYTES, CELL_TEXT}
_CELL_BYTES = {
    CELL_BIT: 0,
    CELL_1: 1,
    CELL_2: 2,
    CELL_4: 4,
    CELL_8: 8,
    CELL_UNITS: 8,
    CELL_DECIMAL: 16,
    CELL_BIG_DECIMAL: 16,
    CELL_BYTES: _OFFSET_BYTES,
    CELL_TEXT: _OFFSET_BYTES,
}

# Columns of a program.
# WIDTH: bytes of a padded or fixed value; of UNITS, nanoseconds in a unit. SCALE: cell = value × scale, or ÷ −scale.
# LIMIT: long decimals lie below it; scaled numbers lie in ±LIMIT_LOW.
FIELD, CELL, WIDTH, SCALE, LIMIT_LOW, LIMIT_HIGH, RUN = range(7)
# Filled in for a batch: where buffers stand, −1 for no validity bits.
VALID_AT, VALUES_AT, DATA_AT = range(7, 10)
PROGRAM_COLUMNS = 10

_UNITS_PER_MS = {4: 1000, 5: 1000, 6: 1000, 7: 1_000_000, 8: 1_000_000, 9: 1_000_000}
_MS_PER_S = 1000
_NANOS_PER_MS = 1_000_000
_I64_MAX = (1 << 63) - 1
_FIELD_BYTES_MAX = {
    FIELD_1: 1,
    FIELD_2: 2,
    FIELD_4: 4,
    FIELD_8: 8,
    FIELD_12: 12,
    FIELD_FLOAT: 4,
    FIELD_DOUBLE: 8,
    FIELD_VARINT_32: 5,
    FIELD_VARINT_64: 10,
    FIELD_VARINT_NANOS: 15,
    FIELD_RUN: 5,
    FIELD_LISTED: 0,
}


class RowProgram(NamedTuple):
    """How rows of some types and one form are read and written."""

    types: tuple[DataType, ...]
    form: RowForm
    fields: I64
    """One line of numbers per column."""
    head_bytes: I64
    """Bytes before the first field of a row that was written with 0, 1, … columns."""
    cell_bytes: tuple[int, ...]
    """Bytes of a value in a column's second buffer; of bits 0, of text and bytes those of an offset."""
    first_buffers: tuple[int, ...]
    """Which buffer is the first of each column."""
    runs: tuple[int, ...]
    """Columns of variable length; they have three buffers, others two."""
    row_bytes_max: int
    """Bytes of a row, those of text and bytes apart."""
    nested: bool
    """Whether there are ARRAY, MAP or ROW columns; a program takes them as bytes."""

    @property
    def null_bytes(self) -> int:
        """Bytes of the null bits of a row."""
        return 0 if self.form is RowForm.KEY else (len(self.types) + 7) // 8

    def value_bytes(self, rows: int) -> list[int]:
        """Bytes of the second buffer of each column: values, or offsets."""
        sizes = [rows * size if size else (rows + 7) // 8 for size in self.cell_bytes]
        for i in self.runs:
            sizes[i] += _OFFSET_BYTES
        return sizes


@lru_cache(maxsize=512)
def row_program(types: tuple[DataType, ...], form: RowForm) -> RowProgram:
    """The program for these types, made once."""
    lines = [_line(t, form) for t in types]
    runs = [i for i, line in enumerate(lines) if line[CELL] in _RUNS]
    for place, i in enumerate(runs):
        lines[i][RUN] = place
    heads, first_buffers, listed = [0], [0], 0
    for columns, line in enumerate(lines, 1):
        listed += line[FIELD] == FIELD_LISTED
        heads.append(0 if form is RowForm.KEY else (columns + 7) // 8 + _LENGTH_BYTES * listed)
        first_buffers.append(first_buffers[-1] + (3 if line[CELL] in _RUNS else 2))
    return RowProgram(
        types=types,
        form=form,
        fields=np.array(lines, np.int64).reshape(len(types), PROGRAM_COLUMNS),
        head_bytes=np.array(heads, np.int64),
        cell_bytes=tuple(_CELL_BYTES.get(line[CELL], line[WIDTH]) for line in lines),
        first_buffers=tuple(first_buffers[:-1]),
        runs=tuple(runs),
        row_bytes_max=heads[-1] + sum(_field_bytes_max(line) for line in lines),
        nested=any(t.root in NESTED for t in types),
    )


def _field_bytes_max(line: list[int]) -> int:
    size = _FIELD_BYTES_MAX.get(line[FIELD], line[WIDTH])
    if line[FIELD] in {FIELD_RUN, FIELD_LISTED}:
        size += {CELL_BIG_DECIMAL: _CELL_BYTES[CELL_BIG_DECIMAL], CELL_FIXED: line[WIDTH]}.get(line[CELL], 0)
    return size


def _line(type_: DataType, form: RowForm) -> list[int]:
    field, cell, width, scale = _shape(type_, form)
    limit = 10 ** (type_.precision or 0) if type_.root is TypeRoot.DECIMAL else _I64_MAX // abs(scale)
    low, high = limit & (1 << 64) - 1, limit >> 64
    line = [field, cell, width, scale, low - (1 << 64) if low >= 1 << 63 else low, high, -1]
    return line + [-1] * (PROGRAM_COLUMNS - len(line))


def _shape(type_: DataType, form: RowForm) -> tuple[int, int, int, int]:
    """Field, cell, width, scale."""
    indexed = form is RowForm.INDEXED
    i32, i64 = (FIELD_4, FIELD_8) if indexed else (FIELD_VARINT_32, FIELD_VARINT_64)
    run = FIELD_LISTED if indexed else FIELD_RUN
    length, precision = type_.length or 0, type_.precision or 0
    match type_.root:
        case TypeRoot.BOOLEAN:
            return FIELD_1, CELL_BIT, 0, 1
        case TypeRoot.TINYINT:
            return FIELD_1, CELL_1, 0, 1
        case TypeRoot.SMALLINT:
            return FIELD_2, CELL_2, 0, 1
        case TypeRoot.INTEGER | TypeRoot.DATE:
            return i32, CELL_4, 0, 1
        case TypeRoot.BIGINT:
            return i64, CELL_8, 0, 1
        case TypeRoot.FLOAT:
            return FIELD_4 if indexed else FIELD_FLOAT, CELL_4, 0, 1
        case TypeRoot.DOUBLE:
            return FIELD_8 if indexed else FIELD_DOUBLE, CELL_8, 0, 1
        case TypeRoot.CHAR:
            return FIELD_PADDED_TEXT if indexed else FIELD_RUN, CELL_TEXT, length, 1
        case TypeRoot.BINARY:
            return FIELD_PADDED if indexed else FIELD_RUN, CELL_FIXED, length, 1
        case TypeRoot.STRING:
            return run, CELL_TEXT, 0, 1
        case TypeRoot.DECIMAL:
            return (
                (i64, CELL_DECIMAL, 0, 1) if precision <= DECIMAL_COMPACT_DIGITS_MAX else (run, CELL_BIG_DECIMAL, 0, 1)
            )
        case TypeRoot.TIME:
            return (
                i32,
                CELL_8 if precision > 3 else CELL_4,
                0,
                _UNITS_PER_MS.get(precision, 1 if precision else -_MS_PER_S),
            )
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if precision <= TIMESTAMP_COMPACT_PRECISION_MAX:
            return i64, CELL_8, 0, 1 if precision else -_MS_PER_S
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            units = _UNITS_PER_MS[precision]
            return FIELD_12 if indexed else FIELD_VARINT_NANOS, CELL_UNITS, _NANOS_PER_MS // units, units
        case root:
            assert root is TypeRoot.BYTES or root in NESTED
            return run, CELL_BYTES, 0, 1
