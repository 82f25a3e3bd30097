"""Compiled: cells of rows where they lie, read, compared, computed with, written."""

from __future__ import annotations

from typing import Any

from lakeward.records.kernels.float_kernels import bits_of_double, bits_of_float, double_of_bits, float_of_bits
from lakeward.records.kernels.kernel import kernel_part
from lakeward.records.kernels.memory_kernels import copy_bytes, get_item, get_u8, put_32
from lakeward.records.kernels.row_decode_kernels import fixed_field, run_field, varint_field
from lakeward.records.kernels.row_encode_kernels import put_number
from lakeward.records.kernels.row_programs import (
    FIELD_4,
    FIELD_8,
    FIELD_12,
    FIELD_LISTED,
    FIELD_RUN,
    FIELD_VARINT_32,
    FIELD_VARINT_NANOS,
)
from lakeward.records.kernels.varint_kernels import PAST_END, put_varint

# A line of a program: how the column lies in a row, what its values are, what becomes of two of them.
FIELD, WIDTH, KIND, BITS, ACTION, JOINT_AT, JOINT_BYTES, IS_TARGET, IS_KEY = range(9)
LINE_NUMBERS = 9

BYTES, INTEGER, FLOAT, DOUBLE, DECIMAL, TIMESTAMP = range(6)

KEEP_OLD, LAST, NUMBERED, LAST_NOT_NULL, FIRST, SUM, PRODUCT, MAX, MIN, BOTH, EITHER, JOIN = range(12)

OK, PYTHON, MORE_ROOM = range(3)

_NANOS_PER_MS = 1_000_000
_FLOAT_INFINITY = 0x7F800000
_FLOAT_NAN = 0x7FC00000
_DOUBLE_INFINITY = 0x7FF0000000000000
_DOUBLE_NAN = 0x7FF8000000000000
_MAGNITUDE_32 = 0x7FFFFFFF
_MAGNITUDE_64 = 0x7FFFFFFFFFFFFFFF


@kernel_part
def is_null(row: int, own: int, column: int) -> bool:
    return column >= own or get_u8(row + (column >> 3)) >> (column & 7) & 1 != 0


@kernel_part
def _is_nan(kind: int, bits: int) -> bool:
    if kind == FLOAT:
        return bits & _MAGNITUDE_32 > _FLOAT_INFINITY
    return kind == DOUBLE and bits & _MAGNITUDE_64 > _DOUBLE_INFINITY


@kernel_part
def read_cell(line: int, at: int, end: int, slot: int) -> Any:
    """A field: its number and nanoseconds, or where its bytes lie and how many; the address after it."""
    field = get_item(line, FIELD)
    if field >= FIELD_RUN:
        return run_field(field, at, end, slot, get_item(line, WIDTH))
    if field >= FIELD_VARINT_32:
        value, extra, at = varint_field(field, at, end)
    else:
        value, extra, at = fixed_field(field, at, end)
    if field in (FIELD_VARINT_NANOS, FIELD_12) and (extra < 0 or extra >= _NANOS_PER_MS):
        return 0, 0, PAST_END
    if field == FIELD_4 and _is_nan(get_item(line, KIND), value):
        return 0, 0, PAST_END  # which of the NaNs is stored, where they may differ, is not for us to say
    return value, extra, at


@kernel_part
def _order(kind: int, bits: int) -> int:
    """A number that grows with what the bits mean, from −infinity over −0.0 and 0.0 to NaN."""
    if kind == FLOAT:
        if _is_nan(kind, bits):
            bits = _FLOAT_NAN
        return bits if bits >= 0 else bits ^ _MAGNITUDE_32
    if kind == DOUBLE:
        if _is_nan(kind, bits):
            bits = _DOUBLE_NAN
        return bits if bits >= 0 else bits ^ _MAGNITUDE_64
    return bits


@kernel_part
def is_less_than(kind: int, left: int, left_extra: int, right: int, right_extra: int) -> bool:
    if kind == BYTES:
        for i in range(min(left_extra, right_extra)):
            difference: int = get_u8(left + i) - get_u8(right + i)
            if difference != 0:
                return difference < 0
        return left_extra < right_extra
    if kind == TIMESTAMP:
        return left < right or (left == right and left_extra < right_extra)
    return _order(kind, left) < _order(kind, right)


@kernel_part
def compute(line: int, action: int, old: int, new: int) -> Any:
    """What two numbers make: status, the number, whether it is NULL instead."""
    if action == BOTH:
        return OK, 1 if old != 0 and new != 0 else 0, False
    if action == EITHER:
        return OK, 1 if old != 0 or new != 0 else 0, False
    kind = get_item(line, KIND)
    if kind == INTEGER:
        total = old + new if action == SUM else old * new
        unused = 64 - get_item(line, BITS)
        return OK, total << unused >> unused, False
    if kind == DECIMAL:
        total = old + new
        return OK, total, (old ^ total) & (new ^ total) < 0
    if kind == FLOAT:
        a, b = float_of_bits(old), float_of_bits(new)
        total = bits_of_float(a + b if action == SUM else a * b)
    else:
        a, b = double_of_bits(old), double_of_bits(new)
        total = bits_of_double(a + b if action == SUM else a * b)
    is_unsaid = _is_nan(kind, total) and get_item(line, FIELD) in (FIELD_4, FIELD_8)
    return PYTHON if is_unsaid else OK, total, False


@kernel_part
def chosen(
    line: int, action: int, old: int, old_extra: int, old_null: bool, new: int, new_extra: int, new_null: bool
) -> Any:
    """What becomes of two cells that are not to be joined: status, value, the rest of it, whether it is NULL."""
    if action == LAST:
        return OK, new, new_extra, new_null
    if action in (KEEP_OLD, NUMBERED):
        return OK, old, old_extra, old_null
    if old_null:
        return OK, new, new_extra, new_null
    if new_null or action == FIRST:
        return OK, old, old_extra, False
    if action in (MAX, MIN):
        is_less = is_less_than(get_item(line, KIND), old, old_extra, new, new_extra)
        if is_less == (action == MAX):
            return OK, new, new_extra, False
        return OK, old, old_extra, False
    if action == LAST_NOT_NULL:
        return OK, new, new_extra, False
    status, value, is_gone = compute(line, action, old, new)
    return status, value, 0, is_gone


@kernel_part
def put_cell(field: int, value: int, extra: int, at: int, slot: int) -> int:
    """Write a cell that is not NULL, its length before it or at `slot`; the address after it."""
    if field < FIELD_RUN:
        return put_number(field, value, extra, at)
    if field == FIELD_RUN:
        at = put_varint(extra, at)
    elif field == FIELD_LISTED:
        put_32(slot, extra)
    copy_bytes(at, value, extra)
    return at + extra


@kernel_part
def put_joined(line: int, joints: int, old: int, old_size: int, new: int, new_size: int, at: int, slot: int) -> int:
    """Text, a delimiter, more text, their length before them or at `slot`; the address after it."""
    joint_size = get_item(line, JOINT_BYTES)
    size = old_size + joint_size + new_size
    if get_item(line, FIELD) == FIELD_RUN:
        at = put_varint(size, at)
    else:
        put_32(slot, size)
    copy_bytes(at, old, old_size)
    copy_bytes(at + old_size, joints + get_item(line, JOINT_AT), joint_size)
    at += old_size + joint_size
    copy_bytes(at, new, new_size)
    return at + new_size
