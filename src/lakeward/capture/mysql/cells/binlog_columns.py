"""Columns of row events → Arrow, with exactly the values that a SELECT gives."""

from __future__ import annotations

import socket
import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from lakeward.capture.mysql.cells.binlog_kernels import (
    read_dates,
    read_datetimes,
    read_decimals,
    read_integers,
    read_times,
    read_timestamps,
)
from lakeward.capture.mysql.cells.cells import Cells, cells_of_arrow
from lakeward.capture.mysql.cells.charsets import Charsets
from lakeward.capture.mysql.cells.json_binary import json_text
from lakeward.capture.mysql.cells.native_type import ADDRESSES, TEXTS
from lakeward.capture.mysql.cells.packed_decimal import decimal_text
from lakeward.capture.mysql.cells.temporal import ColumnForm, moments, times

_MOMENTS = {"date": read_dates, "datetime": read_datetimes, "timestamp": read_timestamps}
_YEAR_ZERO = 1900


def column_of_binlog(form: ColumnForm, cells: Cells, charsets: Charsets, *, is_json: bool = False) -> pa.Array:
    """The column, from values as they stand in row events; `is_json`: in MySQL's own form of JSON."""
    native, type_ = form.native, form.type
    if native.is_compressed:
        cells = _inflate(cells)
    if is_json:
        return _each(cells, pa.string(), json_text)
    if native.integer_bytes or native.name in {"year", "enum", "set"}:
        return _of_numbers(form, cells)
    if native.name == "decimal":
        return _decimals(form, cells)
    if native.name in {"float", "double"}:
        width = 4 if native.name == "float" else 8
        return cells.numbers(cells.fixed_bytes(width), type_)
    if native.is_temporal:
        values, absent = np.zeros(len(cells), np.int64), np.zeros(len(cells), np.bool_)
        _MOMENTS[native.name](cells.data, cells.starts, cells.lengths, values, absent)
        return moments(form, cells, values, absent)
    if native.name == "time":
        values = np.zeros(len(cells), np.int64)
        read_times(cells.data, cells.starts, cells.lengths, values)
        return times(form, cells, values)
    if pa.types.is_boolean(type_):
        return cells.booleans()
    if pa.types.is_fixed_size_binary(type_):
        return cells.numbers(cells.fixed_bytes(type_.byte_width), type_)
    if native.name in ADDRESSES:
        return _addresses(form, cells)
    if native.name in TEXTS:
        return charsets.texts(cells, native.charset or "utf8mb4")
    return cells.binary(type_)


def _of_numbers(form: ColumnForm, cells: Cells) -> pa.Array:
    native = form.native
    numbers = np.zeros(len(cells), np.int64)
    signed = not native.is_unsigned and native.integer_bytes > 0
    read_integers(cells.data, cells.starts, cells.lengths, signed, numbers)
    if native.name == "year":
        numbers[numbers != 0] += _YEAR_ZERO
    if native.name == "enum":
        words = pa.array(["", *native.values], pa.string())
        indices = pa.array(numbers, mask=cells.lengths < 0)
        return pa.DictionaryArray.from_arrays(indices, words).cast(pa.string())
    if native.name == "set":
        return _sets(form, cells, numbers)
    return cells.integers(numbers, form.type)


def _sets(form: ColumnForm, cells: Cells, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
    """Sets by their bits; each combination that occurs is spelt once."""
    kinds, indices = np.unique(numbers.view(np.uint64), return_inverse=True)
    words = [
        ",".join(word for bit, word in enumerate(form.native.values) if kind >> bit & 1) for kind in kinds.tolist()
    ]
    chosen = pa.array(indices.astype(np.int32), mask=cells.lengths < 0)
    return pa.DictionaryArray.from_arrays(chosen, pa.array(words, pa.string())).cast(pa.string())


def _decimals(form: ColumnForm, cells: Cells) -> pa.Array:
    whole, scale = form.native.precision - form.native.scale, form.native.scale
    if not pa.types.is_decimal(form.type):
        return _each(cells, pa.string(), lambda packed: decimal_text(packed, whole, scale))
    halves = np.zeros(2 * len(cells), np.uint64)
    read_decimals(cells.data, cells.starts, cells.lengths, whole, scale, halves)
    return cells.numbers(halves, form.type)


def _addresses(form: ColumnForm, cells: Cells) -> pa.Array:
    width = ADDRESSES[form.native.name]
    spell = {"uuid": _uuid_text, "inet4": lambda raw: socket.inet_ntop(socket.AF_INET, raw), "inet6": _inet6_text}
    write = spell[form.native.name]
    return _each(cells, pa.string(), lambda raw: write(raw.ljust(width, b"\0")))


def _uuid_text(raw: bytes) -> str:
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _inet6_text(raw: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET6, raw)


def _inflate(cells: Cells) -> Cells:
    """Values of a COMPRESSED column: a byte of flags, the length, and what zlib made of it."""
    return cells_of_arrow(_each(cells, pa.binary(), _inflate_one))


def _inflate_one(value: bytes) -> bytes:
    if not value or not value[0]:
        return value[1:]
    return zlib.decompress(value[1 + (value[0] & 7) :], -zlib.MAX_WBITS if value[0] & 8 else zlib.MAX_WBITS)


def _each(cells: Cells, type_: pa.DataType, convert: Callable[[bytes], str | bytes]) -> pa.Array:
    """Types that few tables have: each value that occurs is converted once."""
    values = cells.binary(pa.binary()).dictionary_encode()
    words = pa.array([convert(value) for value in values.dictionary.to_pylist()], type_)
    return pa.DictionaryArray.from_arrays(values.indices, words).cast(type_)
