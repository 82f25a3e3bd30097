"""Values that stand for one thing each → a column of Arrow."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.values import decimal_kernels, number_kernels, text_kernels, time_kernels
from lakeward.formats.values.values import (
    ABSENT,
    ESCAPED,
    FALSE,
    FITS,
    I64,
    NULL,
    RARE,
    STRING,
    TRUE,
    U8,
    UNFIT,
    WHOLE,
    Values,
)
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.arrow.arrow_types import arrow_type

_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
_FORMS = {
    TypeRoot.DATE: time_kernels.DAY,
    TypeRoot.TIME: time_kernels.TIME_OF_DAY,
    TypeRoot.TIMESTAMP: time_kernels.MOMENT,
    TypeRoot.TIMESTAMP_LTZ: time_kernels.MOMENT_IN_ZONE,
}
_DIGITS_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_REALS = {"nan": np.nan, "infinity": np.inf, "-infinity": -np.inf}
#: What is false and what is true, by what it looks like.
_WORDS = {STRING: ("false", "true"), WHOLE: ("0", "1")}
#: Longer ones are no numbers that any column holds; int() of them would take for ever.
_RARE_LENGTH_MAX = 400


def leaf_column(values: Values, type_: DataType) -> tuple[pa.Array, U8]:
    """The column, NULL where a value is absent or does not fit, and what became of each."""
    root = type_.root
    if root in {TypeRoot.STRING, TypeRoot.CHAR}:
        return _texts(values)
    if root in {TypeRoot.BYTES, TypeRoot.BINARY}:
        return _bytes(_plain(values), type_)
    if root is TypeRoot.BOOLEAN:
        return _booleans(values)
    values = _plain(values)
    if root in _BITS:
        return _whole_numbers(values, _BITS[root], arrow_type(type_))
    if root is TypeRoot.DECIMAL:
        assert type_.precision is not None
        raw, status = decimal_kernels.decimals_of(
            values.starts, values.ends, values.kinds, type_.precision, type_.scale or 0
        )
        return _numbers(raw, status, arrow_type(type_)), status
    if root in _FORMS:
        return _times(values, type_)
    return _reals(values, arrow_type(type_))


def _plain(values: Values) -> Values:
    """The same values, texts with escapes in them written out: only texts that are copied may have some."""
    escaped = np.flatnonzero(values.kinds == ESCAPED)
    if not len(escaped):
        return values
    offsets, data = text_kernels.texts_of(values.starts[escaped], values.ends[escaped], values.kinds[escaped])
    starts, ends, kinds = values.starts.copy(), values.ends.copy(), values.kinds.copy()
    starts[escaped], ends[escaped], kinds[escaped] = offsets[:-1], offsets[1:], STRING
    starts[escaped] += data.ctypes.data
    ends[escaped] += data.ctypes.data
    return Values((*values.held, data), starts, ends, kinds, values.owners)


def _texts(values: Values) -> tuple[pa.Array, U8]:
    offsets, data = text_kernels.texts_of(values.starts, values.ends, values.kinds)
    status = np.where(values.kinds > NULL, FITS, ABSENT).astype(np.uint8)
    return _pieces(offsets, data, status, pa.string()), status


def _bytes(values: Values, type_: DataType) -> tuple[pa.Array, U8]:
    length = type_.length if type_.root is TypeRoot.BINARY else None
    offsets, data, status = text_kernels.bytes_of(values.starts, values.ends, values.kinds, length)
    made = _pieces(offsets, data, status, pa.binary())
    return made.cast(arrow_type(type_)), status


def _booleans(values: Values) -> tuple[pa.Array, U8]:
    values = _plain(values)
    kinds = values.kinds
    truth = kinds == TRUE
    status = np.where(truth | (kinds == FALSE), FITS, np.where(kinds <= NULL, ABSENT, UNFIT)).astype(np.uint8)
    for kind, (false, true) in _WORDS.items():
        written = np.flatnonzero(kinds == kind)
        if len(written):
            offsets, data = text_kernels.texts_of(values.starts[written], values.ends[written], kinds[written])
            texts = _pieces(offsets, data, np.full(len(written), FITS, np.uint8), pa.string())
            words = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
            is_true, is_false = np.asarray(pc.equal(words, true)), np.asarray(pc.equal(words, false))
            truth[written], status[written] = is_true, np.where(is_true | is_false, FITS, UNFIT)
    return pa.array(truth, pa.bool_(), mask=status != FITS), status


def _whole_numbers(values: Values, bits: int, type_: pa.DataType) -> tuple[pa.Array, U8]:
    numbers, status = number_kernels.whole_numbers_of(values.starts, values.ends, values.kinds, bits)
    for index in np.flatnonzero(status == RARE).tolist():
        found = _whole_of_real(values.text(index))
        status[index] = UNFIT
        if found is not None and -(2 ** (bits - 1)) <= found < 2 ** (bits - 1):
            status[index], numbers[index] = FITS, found
    return _numbers(numbers.astype(type_.to_pandas_dtype()), status, type_), status


def _whole_of_real(text: str) -> int | None:
    """The whole number that a number with a point or an exponent is, if it is one."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if len(text) > _RARE_LENGTH_MAX or number.adjusted() > _RARE_LENGTH_MAX or number != number.to_integral_value():
        return None
    return int(number)


def _reals(values: Values, type_: pa.DataType) -> tuple[pa.Array, U8]:
    starts, ends, status = number_kernels.real_numbers_of(values.starts, values.ends, values.kinds)
    kinds = np.where(status == FITS, STRING, NULL).astype(np.uint8)
    offsets, data = text_kernels.texts_of(starts, ends, kinds)
    numbers = _pieces(offsets, data, status, pa.string()).cast(type_)
    found = np.asarray(numbers.fill_null(0))
    status[(status == FITS) & ~np.isfinite(found)] = UNFIT
    rare = np.flatnonzero(status == RARE).tolist()
    if rare or (status == UNFIT).any():
        found = found.copy()
        for index in rare:
            special = _REALS.get(values.text(index).strip().lower().removeprefix("+"))
            status[index] = UNFIT if special is None else FITS
            found[index] = 0 if special is None else special
        numbers = _numbers(found, status, type_)
    return numbers, status


def _times(values: Values, type_: DataType) -> tuple[pa.Array, U8]:
    made = arrow_type(type_)
    digits = 0 if type_.root is TypeRoot.DATE else _DIGITS_OF_UNIT[made.unit]
    step = 10 ** (digits - min(type_.precision or 0, digits))
    form = _FORMS[type_.root]
    numbers, status = time_kernels.times_of(values.starts, values.ends, values.kinds, form, 10**digits, step)
    return _numbers(numbers.astype(np.int32) if made.bit_width == 32 else numbers, status, made), status


def _validity(status: U8) -> pa.Buffer | None:
    if (status == FITS).all():
        return None
    return pa.py_buffer(np.packbits(status == FITS, bitorder="little"))


def _numbers(numbers: np.ndarray[tuple[int], np.dtype[np.generic]], status: U8, type_: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(type_, len(status), [_validity(status), pa.py_buffer(np.ascontiguousarray(numbers))])


def _pieces(offsets: I64, data: U8, status: U8, type_: pa.DataType) -> pa.Array:
    buffers = [_validity(status), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(type_, len(status), buffers)
