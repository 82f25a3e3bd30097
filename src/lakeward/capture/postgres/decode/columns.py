"""Text of PostgreSQL → Arrow columns of our types, whole columns at a time.

The text is what the server's own output functions write (ISO dates, UTC, hex bytes, shortest floats), in a COPY as in
the replication stream: so a snapshot and the changes after it give the same values. Values that our types have no place
for (infinity, NaN in a decimal, 24:00:00, nested arrays) are refused, or NULL where the settings say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.capture.port import SourceTable, TableId
from lakeward.capture.postgres.decode.cell_kernels import ODD, count_items, read_hex, read_items
from lakeward.capture.postgres.decode.cells import Cells, binary_array, validity_of
from lakeward.capture.postgres.decode.odd_dates import days_of, micros_of
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.arrow.arrow_types import arrow_type

_SHOWN_LENGTH = 60
_INTEGERS = {TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT, TypeRoot.FLOAT, TypeRoot.DOUBLE}
#: What Arrow reads: decimals, dates of our era up to 9999, times below 24:00.
_PLAIN = r"^(-?\d+(\.\d+)?|\d{4}-\d\d-\d\d( [^B]*)?|([01]\d|2[0-3]):.*)$"
_MICROS_PER = {"s": 1_000_000, "ms": 1000, "us": 1}


class OddValueError(ValueError):
    """A value that the type has no place for."""


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Makes columns; `nulls_odd`: values without a place become NULL."""

    nulls_odd: bool = False

    def batch(self, table: SourceTable, cells: Cells) -> pa.RecordBatch:
        """Rows with the columns of the table."""
        columns = table.schema.columns
        arrays = [self._column(table.id, c.name, c.type, cells, n) for n, c in enumerate(columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=rows_schema(table))

    def _column(self, table: TableId, name: str, type_: DataType, cells: Cells, n: int) -> pa.Array:
        try:
            return self.array(cells.data, cells.starts[n], cells.lengths[n], type_)
        except OddValueError as odd:
            raise _unrepresentable(table, name, type_, str(odd)) from None
        except pa.ArrowInvalid as wrong:
            raise _unrepresentable(table, name, type_, str(wrong)[:_SHOWN_LENGTH]) from None

    def array(self, data: np.ndarray, starts: np.ndarray, lengths: np.ndarray, type_: DataType) -> pa.Array:
        """A column of a type."""
        match type_.root:
            case TypeRoot.BYTES:
                return _bytes(data, starts, lengths)
            case TypeRoot.ARRAY:
                return self._lists(data, starts, lengths, type_)
        text = binary_array(data, starts, lengths).cast(pa.string())
        return self._of_text(text, type_)

    def _of_text(self, text: pa.Array, type_: DataType) -> pa.Array:
        target = arrow_type(type_)
        match type_.root:
            case TypeRoot.STRING | TypeRoot.CHAR:
                return text
            case TypeRoot.BOOLEAN:
                return pc.equal(text, "t")
            case TypeRoot.DECIMAL:
                return self._with_odd(text, target, lambda t: t.cast(target), _no_value)
            case TypeRoot.DATE:
                return self._with_odd(text, target, lambda t: t.cast(target), days_of)
            case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
                divisor = _MICROS_PER[target.unit]
                return self._with_odd(text, target, lambda t: t.cast(target), lambda one: micros_of(one) // divisor)
            case TypeRoot.TIME:
                return self._with_odd(text, target, lambda t: _times(t, target), _no_value)
            case root:
                assert root in _INTEGERS, root
                return text.cast(target)

    def _with_odd(
        self, text: pa.Array, target: pa.DataType, convert: Callable[[pa.Array], pa.Array], rare: Callable[[str], int]
    ) -> pa.Array:
        """The conversion of all at once; where it fails, the few that Arrow cannot read are read one by one."""
        try:
            return convert(text)
        except pa.ArrowInvalid:
            pass
        is_plain = pc.match_substring_regex(text, _PLAIN)
        plain = convert(pc.if_else(is_plain, text, pa.scalar(None, pa.string())))
        places = np.flatnonzero(pc.and_(pc.invert(is_plain), text.is_valid()).fill_null(False))  # noqa: FBT003
        values = [self._odd(text[place].as_py(), rare) for place in places.tolist()]
        storage = pa.int32() if pa.types.is_date32(target) else pa.int64()
        if pa.types.is_decimal(target) or pa.types.is_time(target):
            return plain  # what is odd is NULL by now
        mask = np.zeros(len(text), np.bool_)
        mask[places] = True
        filled = pc.replace_with_mask(plain.view(storage), pa.array(mask), pa.array(values, storage))
        return filled.view(target)

    def _odd(self, text: str, rare: Callable[[str], int]) -> int | None:
        try:
            return rare(text)
        except OverflowError:
            if self.nulls_odd:
                return None
            raise OddValueError(text) from None

    def _lists(self, data: np.ndarray, starts: np.ndarray, lengths: np.ndarray, type_: DataType) -> pa.Array:
        assert type_.element is not None
        counts = np.empty(len(starts), np.int64)
        total = count_items(data, starts, lengths, counts)
        odd = np.flatnonzero((counts == ODD) & (lengths >= 0))
        if len(odd) and not self.nulls_odd:
            place = odd[0]
            raise OddValueError(bytes(data[starts[place] : starts[place] + lengths[place]]).decode(errors="replace"))
        out = np.empty(int(np.maximum(lengths, 0).sum()), np.uint8)
        items = np.empty((2, total), np.int64)
        read_items(data, starts, lengths, counts, out, items)
        values = self.array(out, items[0], items[1], type_.element)
        offsets = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(np.maximum(counts, 0), out=offsets[1:])
        buffers = [validity_of(counts), pa.py_buffer(offsets)]
        return pa.Array.from_buffers(arrow_type(type_), len(counts), buffers, children=[values])


def rows_schema(table: SourceTable) -> pa.Schema:
    """Rows as Arrow: what is no key may be NULL, since a delete may bring the key alone."""
    key = set(table.schema.primary_key)
    return pa.schema([pa.field(c.name, arrow_type(c.type), c.name not in key) for c in table.schema.columns])


def _bytes(data: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> pa.Array:
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(np.maximum(lengths - 2, 0) // 2, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    read_hex(data, starts, offsets, out)
    buffers = [validity_of(lengths), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)


def _times(text: pa.Array, target: pa.DataType) -> pa.Array:
    moments = pc.binary_join_element_wise("1970-01-01", text, " ").cast(pa.timestamp(target.unit))
    return moments.cast(pa.int64()).cast(pa.int32()).view(target)


def _no_value(_text: str) -> int:
    raise OverflowError


def _unrepresentable(table: TableId, column: str, type_: DataType, value: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(
        f"Column '{column}' of {table} holds {value[:_SHOWN_LENGTH]!r}, for which {type_} has no place. Change the"
        " value or the column's type, or set 'odd-values' = 'null' to have NULL in its place."
    )
