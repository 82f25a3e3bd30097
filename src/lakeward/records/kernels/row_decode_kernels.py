"""The compiled loops that turn rows into columns. `row_programs` says what the numbers of a program mean.

Every byte of a row is checked to lie inside it before it is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import (
    address,
    copy_bytes,
    get_i8,
    get_i16,
    get_i32,
    get_i64,
    get_item,
    get_u8,
    put_8,
    put_16,
    put_32,
    put_64,
)
from lakeward.records.kernels.row_programs import (
    CELL,
    CELL_1,
    CELL_2,
    CELL_4,
    CELL_8,
    CELL_BIG_DECIMAL,
    CELL_BIT,
    CELL_DECIMAL,
    CELL_FIXED,
    CELL_UNITS,
    FIELD,
    FIELD_1,
    FIELD_2,
    FIELD_4,
    FIELD_12,
    FIELD_FLOAT,
    FIELD_LISTED,
    FIELD_PADDED_TEXT,
    FIELD_RUN,
    FIELD_VARINT_32,
    FIELD_VARINT_64,
    I64,
    LIMIT_HIGH,
    LIMIT_LOW,
    RUN,
    SCALE,
    U8,
    VALID_AT,
    VALUES_AT,
    WIDTH,
)
from lakeward.records.kernels.varint_kernels import BYTES_MAX_32, BYTES_MAX_64, PAST_END, get_varint

OK, NOT_A_VALUE, LEFT_OVER, UNFIT, NOT_TEXT, TOO_LONG = range(6)
_NANOS_PER_MS = 1_000_000
_I64_MAX = (1 << 63) - 1
_OFFSET_MAX = (1 << 31) - 1
_U32_MASK = 0xFFFFFFFF
_I32_SIGN = 0x80000000
_HIGH_BITS = 0x8080808080808080 - (1 << 64)  # of eight bytes


@kernel_part
def fixed_field(field: int, at: int, end: int) -> Any:
    """Value, nanoseconds, address after; the field is one of fixed width."""
    if field == FIELD_1:
        return (get_i8(at), 0, at + 1) if at < end else (0, 0, PAST_END)
    if field == FIELD_2:
        return (get_i16(at), 0, at + 2) if at + 2 <= end else (0, 0, PAST_END)
    if field in (FIELD_4, FIELD_FLOAT):
        return (get_i32(at), 0, at + 4) if at + 4 <= end else (0, 0, PAST_END)
    if field == FIELD_12:
        return (get_i64(at), get_i32(at + 8), at + 12) if at + 12 <= end else (0, 0, PAST_END)
    return (get_i64(at), 0, at + 8) if at + 8 <= end else (0, 0, PAST_END)


@kernel_part
def varint_field(field: int, at: int, end: int) -> Any:
    """Value, nanoseconds, address after; the field is made of variable-length integers."""
    if field == FIELD_VARINT_32:
        value, at = get_varint(at, end, BYTES_MAX_32)
        return ((value & _U32_MASK) ^ _I32_SIGN) - _I32_SIGN, 0, at
    value, at = get_varint(at, end, BYTES_MAX_64)
    if field == FIELD_VARINT_64 or at == PAST_END:
        return value, 0, at
    nanos, at = get_varint(at, end, BYTES_MAX_32)
    return value, nanos & _U32_MASK, at


@kernel_part
def run_field(field: int, at: int, end: int, slot: int, width: int) -> Any:
    """Start, length, address after; the field is a run of bytes, or its length stands at `slot`."""
    length = width
    if field == FIELD_RUN:
        length, at = get_varint(at, end, BYTES_MAX_32)
        length &= _U32_MASK
    elif field == FIELD_LISTED:
        length = get_i32(slot)
    if at == PAST_END or length < 0 or length > end - at:
        return 0, 0, PAST_END
    start, at = at, at + length
    if field == FIELD_PADDED_TEXT:
        while length > 0 and get_u8(start + length - 1) == 0:
            length -= 1
    return start, length, at


@kernel_part
def _put_scaled(line: int, cell: int, value: int, out: int, i: int) -> int:
    """A number into a cell of 4 or 8 bytes, in the column's unit."""
    scale = get_item(line, SCALE)
    if scale != 1:
        edge = get_item(line, LIMIT_LOW)
        if scale > 0 and (value > edge or value < -edge):
            return UNFIT
        value = value * scale if scale > 0 else value // -scale  # towards the past, as time goes
    if cell == CELL_4:
        put_32(out + 4 * i, value)
    else:
        put_64(out + 8 * i, value)
    return OK


@kernel_part
def _put_units(line: int, value: int, nanos: int, out: int, i: int) -> int:
    """Milliseconds and nanoseconds as units; 64 bits reach only part of their first and last millisecond."""
    if nanos < 0 or nanos >= _NANOS_PER_MS:
        return NOT_A_VALUE
    scale, edge, width = get_item(line, SCALE), get_item(line, LIMIT_LOW), get_item(line, WIDTH)
    units = nanos if width == 1 else nanos // width
    if value < -edge:
        value += 1
        units -= scale
    if value < -edge or value > edge:
        return UNFIT
    value *= scale
    if (units > 0 and value > _I64_MAX - units) or (units < 0 and value < -_I64_MAX - 1 - units):
        return UNFIT
    put_64(out + 8 * i, value + units)
    return OK


@kernel_part
def _put_decimal(value: int, out: int, i: int) -> int:
    """Any 64 bits: a sum may go beyond the digits of its column, as at Apache Fluss."""
    put_64(out + 16 * i, value)
    put_64(out + 16 * i + 8, value >> 63)
    return OK


@kernel_part
def _put_big_decimal(line: int, start: int, length: int, out: int, i: int) -> int:
    """Big-endian bytes as 128 bits, low half first."""
    sign = -1 if length > 0 and get_i8(start) < 0 else 0
    high, low = sign, sign
    for j in range(length):
        byte = get_u8(start + j)
        if length - j > 16 and byte != sign & 0xFF:
            return NOT_A_VALUE
        high = high << 8 | low >> 56 & 0xFF
        low = low << 8 | byte
    # Below zero the complement is one less than the size, so that it must stay one further away from the limit.
    limit_high, limit_low = get_item(line, LIMIT_HIGH), np.uint64(get_item(line, LIMIT_LOW) + sign)
    size_high, size_low = high ^ sign, np.uint64(low ^ sign)
    if size_high < 0 or size_high > limit_high or (size_high == limit_high and size_low >= limit_low):
        return NOT_A_VALUE
    put_64(out + 16 * i, low)
    put_64(out + 16 * i + 8, high)
    return OK


@kernel_part
def _put_run(line: int, start: int, length: int, out: int, i: int, run_starts: int) -> int:
    cell = get_item(line, CELL)
    if cell == CELL_BIG_DECIMAL:
        return _put_big_decimal(line, start, length, out, i)
    if cell == CELL_FIXED:
        width = get_item(line, WIDTH)
        if length > width:
            return UNFIT
        copy_bytes(out + width * i, start, length)
        return OK
    put_64(run_starts + 8 * i, start)
    put_32(out + 4 * (i + 1), length)
    return OK


@kernel_part
def _put_number(line: int, value: int, nanos: int, out: int, i: int) -> int:
    cell = get_item(line, CELL)
    if cell in (CELL_4, CELL_8):
        return _put_scaled(line, cell, value, out, i)
    if cell == CELL_UNITS:
        return _put_units(line, value, nanos, out, i)
    if cell == CELL_DECIMAL:
        return _put_decimal(value, out, i)
    if cell == CELL_BIT:
        if value != 0:
            at = out + (i >> 3)
            put_8(at, get_u8(at) | 1 << (i & 7))
    elif cell == CELL_1:
        put_8(out + i, value)
    elif cell == CELL_2:
        put_16(out + 2 * i, value)
    return OK


@kernel_part
def _put_null(validity: int, i: int) -> None:
    at = validity + (i >> 3)
    put_8(at, get_u8(at) & ~(1 << (i & 7)))


@kernel
def decode(starts: I64, ends: I64, counts: I64, program: I64, heads: I64, out: U8, run_starts: I64, nulls: I64) -> Any:
    """Write cells into `out`, zeroed but for set validity bits; of runs only starts and lengths.

    `starts` and `ends` are addresses. `counts` is how many columns each row was written with, or nothing.
    Returns status, row and column.
    """
    columns, line_bytes, target, runs = len(program), 8 * program.shape[1], address(out), address(run_starts)
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        own = counts[i] if len(counts) > 0 else columns
        if own < 0 or own > columns or heads[own] > end - start:
            return NOT_A_VALUE, i, -1
        at, slot = start + heads[own], start + (own + 7 >> 3)
        for c in range(own):
            line = address(program) + c * line_bytes
            if get_u8(start + (c >> 3)) >> (c & 7) & 1:
                _put_null(target + get_item(line, VALID_AT), i)
                nulls[c] += 1
                continue
            field, values = get_item(line, FIELD), target + get_item(line, VALUES_AT)
            status = NOT_A_VALUE
            if field >= FIELD_RUN:
                value, extra, at = run_field(field, at, end, slot, get_item(line, WIDTH))
                slot += 4 if field == FIELD_LISTED else 0
                if at != PAST_END:
                    status = _put_run(line, value, extra, values, i, runs + 8 * get_item(line, RUN) * len(starts))
            else:
                if field >= FIELD_VARINT_32:
                    value, extra, at = varint_field(field, at, end)
                else:
                    value, extra, at = fixed_field(field, at, end)
                if at != PAST_END:
                    status = _put_number(line, value, extra, values, i)
            if status != OK:
                return status, i, c
        for c in range(own, columns):
            _put_null(target + program[c, VALID_AT], i)
            nulls[c] += 1
        if at != end:
            return LEFT_OVER, i, -1
    return OK, 0, 0


@kernel_part
def _is_text(at: int, end: int) -> bool:
    """Whether bytes are UTF-8, without surrogates and overlong forms."""
    while end - at >= 8 and get_i64(at) & _HIGH_BITS == 0:
        at += 8
    while at < end:
        first = get_u8(at)
        at += 1
        if first < 0x80:
            continue
        low, high, more = 0x80, 0xBF, 1
        if first >= 0xF0:
            more = 3
            low = 0x90 if first == 0xF0 else low
            high = 0x8F if first == 0xF4 else high
        elif first >= 0xE0:
            more = 2
            low = 0xA0 if first == 0xE0 else low
            high = 0x9F if first == 0xED else high
        if first < 0xC2 or first > 0xF4 or end - at < more or get_u8(at) < low or get_u8(at) > high:
            return False
        for j in range(1, more):
            if get_u8(at + j) & 0xC0 != 0x80:
                return False
        at += more
    return True


@kernel
def gather_runs(run_starts: I64, text: bool, out: U8, offsets_at: int, data_at: int) -> Any:
    """Turn the lengths of a column into offsets and copy its bytes. Returns status, row and the bytes copied."""
    offsets, data, total = address(out) + offsets_at, address(out) + data_at, 0
    for i in range(len(run_starts)):
        place = offsets + 4 * (i + 1)
        length = get_i32(place)
        if length > 0:
            start = run_starts[i]
            if text and not _is_text(start, start + length):
                return NOT_TEXT, i, total
            if total > _OFFSET_MAX - length:
                return TOO_LONG, i, total
            copy_bytes(data + total, start, length)
            total += length
        put_32(place, total)
    return OK, 0, total
