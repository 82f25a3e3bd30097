"""The compiled loop that turns columns into rows. `row_programs` says what the numbers of a program mean."""

from __future__ import annotations

from typing import Any

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
    CELL_FIXED,
    CELL_UNITS,
    DATA_AT,
    FIELD,
    FIELD_1,
    FIELD_2,
    FIELD_4,
    FIELD_12,
    FIELD_DOUBLE,
    FIELD_FLOAT,
    FIELD_LISTED,
    FIELD_PADDED_TEXT,
    FIELD_RUN,
    FIELD_VARINT_32,
    FIELD_VARINT_64,
    FIELD_VARINT_NANOS,
    I64,
    LIMIT_LOW,
    SCALE,
    U8,
    VALID_AT,
    VALUES_AT,
    WIDTH,
)
from lakeward.records.kernels.varint_kernels import put_varint

OK, UNFIT, NULL_KEY = range(3)
_U32_MASK = 0xFFFFFFFF
_FLOAT_NAN = 0x7FC00000
_FLOAT_INFINITY = 0x7F800000
_DOUBLE_NAN = 0x7FF8000000000000
_DOUBLE_INFINITY = 0x7FF0000000000000
_MAGNITUDE_32 = 0x7FFFFFFF
_MAGNITUDE_64 = 0x7FFFFFFFFFFFFFFF
_DECIMAL_BYTES = 16


@kernel_part
def _number(line: int, at: int, i: int) -> Any:
    """The number in a cell: status, value, nanoseconds."""
    cell = get_item(line, CELL)
    if cell == CELL_BIT:
        return OK, get_u8(at + (i >> 3)) >> (i & 7) & 1, 0
    if cell == CELL_1:
        return OK, get_i8(at + i), 0
    if cell == CELL_2:
        return OK, get_i16(at + 2 * i), 0
    scale = get_item(line, SCALE)
    if cell == CELL_UNITS:
        units = get_i64(at + 8 * i)
        value = units // scale
        return OK, value, (units - value * scale) * get_item(line, WIDTH)
    if cell == CELL_4:
        value = get_i32(at + 4 * i)
    elif cell == CELL_8:
        value = get_i64(at + 8 * i)
    else:
        value = get_i64(at + _DECIMAL_BYTES * i)
    if scale > 1:
        value = value // scale
    elif scale < 0:
        edge = get_item(line, LIMIT_LOW)
        if value > edge or value < -edge:
            return UNFIT, 0, 0
        value *= -scale
    return OK, value, 0


@kernel_part
def put_number(field: int, value: int, nanos: int, at: int) -> int:
    """Write a number as a field; the address after it."""
    if field == FIELD_VARINT_32:
        return put_varint(value & _U32_MASK, at)
    if field == FIELD_VARINT_64:
        return put_varint(value, at)
    if field == FIELD_VARINT_NANOS:
        return put_varint(nanos, put_varint(value, at))
    if field == FIELD_1:
        put_8(at, value)
        return at + 1
    if field == FIELD_2:
        put_16(at, value)
        return at + 2
    if field in (FIELD_4, FIELD_FLOAT):
        if field == FIELD_FLOAT and value & _MAGNITUDE_32 > _FLOAT_INFINITY:
            value = _FLOAT_NAN
        put_32(at, value)
        return at + 4
    if field == FIELD_DOUBLE and value & _MAGNITUDE_64 > _DOUBLE_INFINITY:
        value = _DOUBLE_NAN
    put_64(at, value)
    if field == FIELD_12:
        put_32(at + 8, nanos)
        return at + 12
    return at + 8


@kernel_part
def _run(line: int, body: int, i: int) -> Any:
    """Where the bytes of a cell lie: status, start, length. Offsets have been checked."""
    cell, at, width = get_item(line, CELL), body + get_item(line, VALUES_AT), get_item(line, WIDTH)
    if cell == CELL_FIXED:
        return OK, at + width * i, width
    if cell == CELL_BIG_DECIMAL:
        at += _DECIMAL_BYTES * i
        length, sign = _DECIMAL_BYTES, get_i8(at + _DECIMAL_BYTES - 1) >> 7
        while length > 1 and get_i8(at + length - 1) == sign and get_i8(at + length - 2) >> 7 == sign:
            length -= 1
        return OK, at, length
    start, end = get_i32(at + 4 * i), get_i32(at + 4 * i + 4)
    if get_item(line, FIELD) == FIELD_PADDED_TEXT and end - start > width:
        return UNFIT, 0, 0
    return OK, body + get_item(line, DATA_AT) + start, end - start


@kernel_part
def _put_run(line: int, field: int, start: int, length: int, at: int, slot: int) -> int:
    """Write bytes as a field, the length before them or at `slot`; the address after it."""
    if field == FIELD_RUN:
        at = put_varint(length, at)
    elif field == FIELD_LISTED:
        put_32(slot, length)
    if get_item(line, CELL) == CELL_BIG_DECIMAL:
        for j in range(length):
            put_8(at + j, get_u8(start + length - 1 - j))
    else:
        copy_bytes(at, start, length)
    at += length
    if field == FIELD_PADDED_TEXT:
        for _ in range(get_item(line, WIDTH) - length):
            put_8(at, 0)
            at += 1
    return at


@kernel
def offsets_grow(body: U8, at: int, rows: int, data_bytes: int) -> bool:
    """Whether the offsets of a column are in order and inside its data, those of NULLs too.

    Then all its bytes together are no more than its data has, and rows fit the memory that was taken for them.
    """
    offsets, before = address(body) + at, 0
    for i in range(rows + 1):
        offset = get_i32(offsets + 4 * i)
        if offset < before:
            return False
        before = offset
    return before <= data_bytes


@kernel
def encode(body: U8, rows: int, program: I64, head_bytes: int, null_bytes: int, out: U8, bounds: I64) -> Any:
    """Write rows one after the other; `bounds` gets where each begins and ends. Returns status, row and column."""
    columns, line_bytes, source, target = len(program), 8 * program.shape[1], address(body), address(out)
    at = target
    for i in range(rows):
        begin = at
        for _ in range(head_bytes):
            put_8(at, 0)
            at += 1
        slot = begin + null_bytes
        for c in range(columns):
            line = address(program) + c * line_bytes
            valid_at = get_item(line, VALID_AT)
            if valid_at >= 0 and get_u8(source + valid_at + (i >> 3)) >> (i & 7) & 1 == 0:
                if null_bytes == 0:
                    return NULL_KEY, i, c
                put_8(begin + (c >> 3), get_u8(begin + (c >> 3)) | 1 << (c & 7))
                continue
            field = get_item(line, FIELD)
            if field >= FIELD_RUN:
                status, value, extra = _run(line, source, i)
            else:
                status, value, extra = _number(line, source + get_item(line, VALUES_AT), i)
            if status != OK:
                return status, i, c
            if field >= FIELD_RUN:
                at = _put_run(line, field, value, extra, at, slot)
                slot += 4 if field == FIELD_LISTED else 0
            else:
                at = put_number(field, value, extra, at)
        bounds[i + 1] = at - target
    return OK, 0, 0
