"""Columns of an answer to a prepared statement → Arrow. Texts come in utf8mb4, times in UTC: the session is set so.

Prepared, because a server sends such rows as it has them: it need not write numbers and times as text, which costs it
more than all else, nor lose digits of a FLOAT by that.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lakeward.capture.mysql.cells.answer_kernels import parse_decimals, unpack_moments, unpack_times
from lakeward.capture.mysql.cells.binlog_kernels import read_integers
from lakeward.capture.mysql.cells.cells import Cells
from lakeward.capture.mysql.cells.temporal import ColumnForm, moments, times


def column_of_answer(form: ColumnForm, cells: Cells) -> pa.Array:
    """The column, from values as the server sends them."""
    native, type_ = form.native, form.type
    if native.integer_bytes or native.name == "year":
        numbers = np.zeros(len(cells), np.int64)
        read_integers(cells.data, cells.starts, cells.lengths, not native.is_unsigned, numbers)
        return cells.integers(numbers, type_)
    if pa.types.is_decimal(type_):
        halves = np.zeros(2 * len(cells), np.uint64)
        parse_decimals(cells.data, cells.starts, cells.lengths, halves)
        return cells.numbers(halves, type_)
    if pa.types.is_floating(type_):
        return cells.numbers(cells.fixed_bytes(4 if native.name == "float" else 8), type_)
    if native.is_temporal:
        values, absent = np.zeros(len(cells), np.int64), np.zeros(len(cells), np.bool_)
        unpack_moments(cells.data, cells.starts, cells.lengths, values, absent)
        return moments(form, cells, values, absent)
    if native.name == "time":
        values = np.zeros(len(cells), np.int64)
        unpack_times(cells.data, cells.starts, cells.lengths, values)
        return times(form, cells, values)
    if pa.types.is_boolean(type_):
        return cells.booleans()
    if pa.types.is_fixed_size_binary(type_):
        return cells.numbers(cells.fixed_bytes(type_.byte_width), type_)
    return cells.binary(type_)
