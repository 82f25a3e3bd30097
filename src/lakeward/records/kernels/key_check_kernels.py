"""The compiled loop that looks at the records of a put: keys against their rows, values in their ranges, buckets.

A compacted key is the fields of a compacted row without its null bits, so the two are compared where they lie and
nothing is decoded; the keys of lakes are compared with what they would be, slot by slot. It loads numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import address, copy_bytes, get_i32, get_i64, get_item, get_u8
from lakeward.records.kernels.row_programs import (
    FIELD_1,
    FIELD_2,
    FIELD_DOUBLE,
    FIELD_FLOAT,
    FIELD_RUN,
    FIELD_VARINT_32,
    FIELD_VARINT_NANOS,
    I64,
    U8,
)
from lakeward.records.kernels.varint_kernels import BYTES_MAX_32, BYTES_MAX_64, PAST_END, get_varint

OK, NOT_A_KEY, OTHER_KEY, NULL_KEY, NOT_A_ROW, UNFIT, OTHER_BUCKET = range(7)

# What is known of each column: how it lies in a row, what its numbers must keep to, which part of the key it is.
FIELD, RULE, LIMIT, PART, UNIT = range(5)
ANY, BELOW, WITHIN = range(3)
"""Rules: any number; 0 ≤ number < limit; −limit < number < limit."""
NO_PART = -1
#: UNIT of a decimal, which is bytes in the keys of lakes; of all other numbers, what one is worth in Iceberg's.
DECIMAL_UNIT = 0

COMPACTED, ICEBERG, PAIMON = range(3)
NO_BUCKETS, FLUSS_BUCKETS, ICEBERG_BUCKETS, PAIMON_BUCKETS = range(4)

_U32_MASK = 0xFFFFFFFF
_I32_SIGN = 0x80000000
_NANOS_PER_MICRO = 1000


@kernel_part
def _end_of(field: int, at: int, end: int) -> int:
    """Where a field ends, or PAST_END."""
    if field == FIELD_1:
        at += 1
    elif field == FIELD_2:
        at += 2
    elif field == FIELD_FLOAT:
        at += 4
    elif field == FIELD_DOUBLE:
        at += 8
    elif field == FIELD_RUN:
        length, at = get_varint(at, end, BYTES_MAX_32)
        length &= _U32_MASK
        if at == PAST_END or length > end - at:
            return PAST_END
        at += length
    else:
        _, at = get_varint(at, end, BYTES_MAX_32 if field == FIELD_VARINT_32 else BYTES_MAX_64)
        if field == FIELD_VARINT_NANOS and at != PAST_END:
            _, at = get_varint(at, end, BYTES_MAX_32)
    return PAST_END if at > end else at


@kernel_part
def _is_shortest(field: int, at: int, end: int) -> bool:
    """Whether the numbers of a field are written in as few bytes as they need: else a key would have two forms."""
    if field < FIELD_VARINT_32:
        return True
    wide = field != FIELD_VARINT_32 and field != FIELD_RUN
    _, after = get_varint(at, end, BYTES_MAX_64 if wide else BYTES_MAX_32)
    last = get_u8(after - 1)
    if after - at > 1 and last == 0:
        return False
    if (wide and after - at == BYTES_MAX_64 and last > 1) or (not wide and after - at == BYTES_MAX_32 and last > 0x0F):
        return False
    if field == FIELD_VARINT_NANOS:
        _, behind = get_varint(after, end, BYTES_MAX_32)
        return behind - after == 1 or get_u8(behind - 1) != 0
    return True


@kernel_part
def _same_bytes(a: int, b: int, count: int) -> bool:
    while count >= 8:
        if get_i64(a) != get_i64(b):
            return False
        a, b, count = a + 8, b + 8, count - 8
    for j in range(count):  # noqa: SIM110 - generators are not compiled
        if get_u8(a + j) != get_u8(b + j):
            return False
    return True


@kernel
def first_difference(starts: I64, ends: I64, other_starts: I64, other_ends: I64) -> int:
    """The first stretch of bytes that is not the same as its counterpart, or −1; starts and ends are addresses."""
    for i in range(len(starts)):
        size = ends[i] - starts[i]
        if size != other_ends[i] - other_starts[i] or not _same_bytes(starts[i], other_starts[i], size):
            return i
    return -1


@kernel_part
def _number(field: int, at: int, end: int) -> Any:
    """The number of a field, and the nanoseconds after it; of a field of fixed width its bytes."""
    if field < FIELD_VARINT_32:
        value = 0
        for j in range(_end_of(field, at, end) - at):
            value |= get_u8(at + j) << 8 * j
        return value, 0
    if field == FIELD_VARINT_32:
        value, _ = get_varint(at, end, BYTES_MAX_32)
        return ((value & _U32_MASK) ^ _I32_SIGN) - _I32_SIGN, 0
    value, at = get_varint(at, end, BYTES_MAX_64)
    if field == FIELD_VARINT_NANOS:
        nanos, _ = get_varint(at, end, BYTES_MAX_32)
        return value, nanos & _U32_MASK
    return value, 0


@kernel_part
def _is_iceberg_key(field: int, unit: int, at: int, end: int, key: int, key_end: int) -> bool:
    """Whether a key is what Iceberg makes of a field."""
    size = key_end - key
    if field in (FIELD_FLOAT, FIELD_DOUBLE):
        return size == end - at and _same_bytes(at, key, size)
    if field == FIELD_RUN:
        length, at = get_varint(at, end, BYTES_MAX_32)
        return size == length & _U32_MASK and _same_bytes(at, key, size)
    value, nanos = _number(field, at, end)
    if unit != DECIMAL_UNIT:
        return size == 8 and get_i64(key) == value * unit + nanos // _NANOS_PER_MICRO
    if size < 1 or size > 8:
        return False
    read = -1 if get_u8(key) >= 0x80 else 0
    for j in range(size):
        read = read << 8 | get_u8(key + j)
    head = value >> 8 * (size - 1) - 1 if size > 1 else 1  # all sign, if the first byte says nothing
    return read == value and head != 0 and head != -1


@kernel_part
def _paimon_slot(field: int, unit: int, at: int, end: int, key: int, slot: int, tail: int) -> int:
    """Where the next long value of an aligned key stands, if a field is in its slot as it should be; else PAST_END."""
    if field != FIELD_RUN:
        value, nanos = _number(field, at, end)
        if field != FIELD_VARINT_NANOS:
            if field == FIELD_VARINT_32:
                value &= _U32_MASK
            return tail if get_i64(slot) == value else PAST_END
        is_there = get_i64(slot) == (tail << 32 | nanos) and get_i64(key + tail) == value
        return tail + 8 if is_there else PAST_END
    length, at = get_varint(at, end, BYTES_MAX_32)
    room = 16 if unit == DECIMAL_UNIT else (length + 7) // 8 * 8
    if unit != DECIMAL_UNIT and length <= 7:
        place, room, padding = slot, 7, slot + length
        if get_u8(slot + 7) != 0x80 | length:
            return PAST_END
    else:
        place, padding = key + tail, key + tail + length
        if length > room or get_i64(slot) != (tail << 32 | length):
            return PAST_END
        tail += room
    for j in range(room - length):
        if get_u8(padding + j) != 0:
            return PAST_END
    return tail if _same_bytes(at, place, length) else PAST_END


@kernel_part
def _is_paimon_key(columns: I64, key_columns: I64, places: I64, key: int, key_end: int) -> bool:
    """Whether an aligned key holds the fields that begin and end at `places`, and nothing else."""
    parts = len(key_columns)
    head = (parts + 71) // 64 * 8
    tail = head + 8 * parts
    if key_end - key < tail:
        return False
    for j in range(0, head, 8):
        if get_i64(key + j) != 0:
            return False
    for k in range(parts):
        field, unit = columns[key_columns[k], FIELD], columns[key_columns[k], UNIT]
        room = 0
        if field == FIELD_VARINT_NANOS:
            room = 8
        elif field == FIELD_RUN:
            length, _ = get_varint(places[2 * k], places[2 * k + 1], BYTES_MAX_32)
            room = 16 if unit == DECIMAL_UNIT else (length + 7) // 8 * 8 if length > 7 else 0
        if key_end - key < tail + room:
            return False
        tail = _paimon_slot(field, unit, places[2 * k], places[2 * k + 1], key, key + head + 8 * k, tail)
        if tail == PAST_END:
            return False
    return tail == key_end - key


@kernel_part
def _mix(state: Any, word: Any) -> Any:
    word = word * np.uint64(0xCC9E2D51) & np.uint64(_U32_MASK)
    word = (word << np.uint64(15) | word >> np.uint64(17)) & np.uint64(_U32_MASK)
    state ^= word * np.uint64(0x1B873593) & np.uint64(_U32_MASK)
    state = (state << np.uint64(13) | state >> np.uint64(19)) & np.uint64(_U32_MASK)
    return (state * np.uint64(5) + np.uint64(0xE6546B64)) & np.uint64(_U32_MASK)


@kernel_part
def _finish(state: Any) -> Any:
    state ^= state >> np.uint64(16)
    state = state * np.uint64(0x85EBCA6B) & np.uint64(_U32_MASK)
    state ^= state >> np.uint64(13)
    state = state * np.uint64(0xC2B2AE35) & np.uint64(_U32_MASK)
    return state ^ state >> np.uint64(16)


@kernel_part
def _fluss_bucket(state: Any, count: int) -> Any:
    code = _finish(_mix(np.uint64(0), state) ^ np.uint64(4))
    size = code if code < np.uint64(0x80000000) else np.uint64(0x100000000) - code
    return np.int64(size) % count if size != np.uint64(0x80000000) else 0


@kernel_part
def _is_at_home(kind: int, at: int, end: int, count: int, bucket: int) -> Any:
    """Whether a bucket key belongs into a bucket; Java and pyfluss may each have put it where they look for it."""
    size = end - at
    state = np.uint64(0) if kind == ICEBERG_BUCKETS else np.uint64(42)
    while end - at >= 4:
        state = _mix(state, np.uint64(get_i32(at) & _U32_MASK))
        at += 4
    if kind == ICEBERG_BUCKETS:
        if at < end:
            word = 0
            for j in range(end - at):
                word |= get_u8(at + j) << 8 * j
            # The tail is mixed in without the turn that a whole word gets.
            tail = np.uint64(word) * np.uint64(0xCC9E2D51) & np.uint64(_U32_MASK)
            tail = (tail << np.uint64(15) | tail >> np.uint64(17)) & np.uint64(_U32_MASK)
            state ^= tail * np.uint64(0x1B873593) & np.uint64(_U32_MASK)
        return np.int64(_finish(state ^ np.uint64(size)) & np.uint64(0x7FFFFFFF)) % count == bucket
    if kind == PAIMON_BUCKETS:  # such keys are whole words
        code = _finish(state ^ np.uint64(size))
        return np.int64(code if code < np.uint64(0x80000000) else np.uint64(0x100000000) - code) % count == bucket
    java, differ = state, False
    for j in range(end - at):
        byte = get_u8(at + j)
        differ = differ or byte >= 0x80
        java = _mix(java, np.uint64(byte | 0xFFFFFF00 if byte >= 0x80 else byte))
    if _fluss_bucket(_finish(java ^ np.uint64(size)), count) == bucket:
        return True
    if not differ:
        return False
    for j in range(end - at):
        state = _mix(state, np.uint64(get_u8(at + j)))
    return _fluss_bucket(_finish(state ^ np.uint64(size)), count) == bucket


@kernel
def check_records(
    data: U8,
    key_starts: I64,
    key_ends: I64,
    row_starts: I64,
    row_ends: I64,
    columns: I64,
    head_bytes: int,
    key_columns: I64,
    key_form: int,
    bucket_parts: I64,
    bucket_kind: int,
    bucket_count: int,
    bucket: int,
    places: I64,
    scratch: U8,
) -> Any:
    """Status, record and column of the first record that is not as it should be.

    `columns` are those that matter, from the first on; `key_columns` their numbers in the order of the key;
    `bucket_parts` the parts of the key that make the bucket, none: the key itself. `places` and `scratch` are room.
    """
    base, parts, line_bytes = address(data), len(key_columns), 8 * columns.shape[1]
    for i in range(len(key_starts)):
        key, key_end = base + key_starts[i], base + key_ends[i]
        if key_form == COMPACTED:
            at = key
            for k in range(parts):
                field = columns[key_columns[k], FIELD]
                places[k] = at
                end = _end_of(field, at, key_end)
                if end == PAST_END or not _is_shortest(field, at, key_end):
                    return NOT_A_KEY, i, key_columns[k]
                at = end
            places[parts] = at
            if at != key_end:
                return NOT_A_KEY, i, -1
        if row_starts[i] >= 0:
            row, row_end = base + row_starts[i], base + row_ends[i]
            if row_end - row < head_bytes:
                return NOT_A_ROW, i, -1
            at = row + head_bytes
            for c in range(len(columns)):
                line = address(columns) + c * line_bytes
                part = get_item(line, PART)
                if get_u8(row + (c >> 3)) >> (c & 7) & 1:
                    if part != NO_PART:
                        return NULL_KEY, i, c
                    continue
                field = get_item(line, FIELD)
                end = _end_of(field, at, row_end)
                if end == PAST_END:
                    return NOT_A_ROW, i, c
                if part != NO_PART:
                    if key_form == COMPACTED:
                        size = places[part + 1] - places[part]
                        if end - at != size or not _same_bytes(at, places[part], size):
                            return OTHER_KEY, i, c
                    elif key_form == PAIMON:
                        places[2 * part], places[2 * part + 1] = at, end
                    elif not _is_iceberg_key(field, get_item(line, UNIT), at, end, key, key_end):
                        return OTHER_KEY, i, c
                rule = get_item(line, RULE)
                if rule != ANY:
                    value, _ = _number(field, at, row_end)
                    limit = get_item(line, LIMIT)
                    if value >= limit or value <= (-1 if rule == BELOW else -limit):
                        return UNFIT, i, c
                at = end
            if key_form == PAIMON and not _is_paimon_key(columns, key_columns, places, key, key_end):
                return OTHER_KEY, i, key_columns[0]
        elif key_form == PAIMON and key_end - key & 7:
            return NOT_A_KEY, i, -1
        if bucket_kind != NO_BUCKETS:
            if len(bucket_parts):
                to = address(scratch)
                for k in bucket_parts:
                    copy_bytes(to, places[k], places[k + 1] - places[k])
                    to += places[k + 1] - places[k]
                key, key_end = address(scratch), to
            if not _is_at_home(bucket_kind, key, key_end, bucket_count, bucket):
                return OTHER_BUCKET, i, -1
    return OK, 0, -1
