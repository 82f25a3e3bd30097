"""The compiled loops behind `bucket_kernels`: write the parts of keys, hash them. It loads numba.

Keys lie one after the other in `out`; `cursors[i]` is where the next byte of key i goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.key_columns import DECIMAL_BYTES, I64, U8, U64

_MASK = np.uint64(0xFFFFFFFF)
_SIGN = np.uint64(0xFFFFFF00)
_GROUP = np.uint64(0x7F)
_MORE = np.uint64(0x80)
_SEVEN = np.uint64(7)


@kernel
def _varint_bytes(value: Any) -> Any:
    size = 1
    while value > _GROUP:
        value >>= _SEVEN
        size += 1
    return size


@kernel
def _put_varint(value: Any, out: U8, at: Any) -> Any:
    while value > _GROUP:
        out[at] = np.uint8(value & _GROUP | _MORE)
        value >>= _SEVEN
        at += 1
    out[at] = np.uint8(value)
    return at + 1


@kernel
def add_varint_bytes(values: U64, sizes: I64) -> None:
    """Add the size of each number as a variable-length integer."""
    for i in range(len(values)):
        sizes[i] += _varint_bytes(values[i])


@kernel
def put_varints(values: U64, out: U8, cursors: I64) -> None:
    """Write each number as a variable-length integer."""
    for i in range(len(values)):
        cursors[i] = _put_varint(values[i], out, cursors[i])


@kernel
def put_fixed(rows: U8, out: U8, cursors: I64) -> None:
    """Write each row of bytes."""
    width = rows.shape[1]
    for i in range(rows.shape[0]):
        at = cursors[i]
        for j in range(width):
            out[at + j] = rows[i, j]
        cursors[i] = at + width


@kernel
def put_runs(starts: I64, lengths: I64, data: U8, prefixed: bool, out: U8, cursors: I64) -> None:
    """Write each stretch of bytes, with its length in front when asked."""
    for i in range(len(starts)):
        at = cursors[i]
        if prefixed:
            at = _put_varint(np.uint64(lengths[i]), out, at)
        for j in range(lengths[i]):
            out[at + j] = data[starts[i] + j]
        cursors[i] = at + lengths[i]


@kernel
def _put_pointer(low: Any, offset: Any, out: U8, at: Any) -> None:
    for j in range(4):
        out[at + j] = np.uint8(low >> (8 * j) & 0xFF)
        out[at + 4 + j] = np.uint8(offset >> (8 * j) & 0xFF)


@kernel
def put_run_slots(
    starts: I64, lengths: I64, data: U8, valid: U8, out: U8, begins: I64, slot_at: int, tails: I64
) -> None:
    """Write text or bytes as slots of aligned rows: short ones inline, long ones behind the slots."""
    for i in range(len(starts)):
        if not valid[i]:
            continue
        at = begins[i] + slot_at
        length = lengths[i]
        if length > 7:
            _put_pointer(length, tails[i] - begins[i], out, at)
            at = tails[i]
            tails[i] += (length + 7) // 8 * 8
        else:
            out[at + 7] = np.uint8(0x80 | length)
        for j in range(length):
            out[at + j] = data[starts[i] + j]


@kernel
def put_area_slots(lows: I64, areas: U8, valid: U8, out: U8, begins: I64, slot_at: int, tails: I64) -> None:
    """Write values that always lie behind the slots of an aligned row; `lows` is the low half of the pointer."""
    width = areas.shape[1]
    for i in range(len(lows)):
        if not valid[i]:
            continue
        _put_pointer(lows[i], tails[i] - begins[i], out, begins[i] + slot_at)
        for j in range(width):
            out[tails[i] + j] = areas[i, j]
        tails[i] += width


@kernel
def minimal_big_endian(little: U8, big: U8, lengths: I64) -> None:
    """Turn 16-byte little-endian numbers into their fewest big-endian bytes, left-aligned in `big`."""
    for i in range(little.shape[0]):
        sign = np.uint8(0xFF) if little[i, DECIMAL_BYTES - 1] >= 0x80 else np.uint8(0)
        top = DECIMAL_BYTES - 1
        while top > 0 and little[i, top] == sign and (little[i, top - 1] >= 0x80) == (sign != 0):
            top -= 1
        lengths[i] = top + 1
        for j in range(top + 1):
            big[i, j] = little[i, top - j]


@kernel
def _mix_word(word: Any) -> Any:
    word = word * np.uint64(0xCC9E2D51) & _MASK
    word = (word << np.uint64(15) | word >> np.uint64(17)) & _MASK
    return word * np.uint64(0x1B873593) & _MASK


@kernel
def _mix_hash(state: Any, word: Any) -> Any:
    state ^= word
    state = (state << np.uint64(13) | state >> np.uint64(19)) & _MASK
    return (state * np.uint64(5) + np.uint64(0xE6546B64)) & _MASK


@kernel
def _finish(state: Any) -> Any:
    state ^= state >> np.uint64(16)
    state = state * np.uint64(0x85EBCA6B) & _MASK
    state ^= state >> np.uint64(13)
    state = state * np.uint64(0xC2B2AE35) & _MASK
    return state ^ state >> np.uint64(16)


@kernel
def _word_at(data: U8, at: Any) -> Any:
    return (
        np.uint64(data[at])
        | np.uint64(data[at + 1]) << np.uint64(8)
        | np.uint64(data[at + 2]) << np.uint64(16)
        | np.uint64(data[at + 3]) << np.uint64(24)
    )


@kernel
def _hash42(data: U8, start: Any, end: Any, extends_sign: bool) -> Any:
    state = np.uint64(42)
    at = start
    while at + 4 <= end:
        state = _mix_hash(state, _mix_word(_word_at(data, at)))
        at += 4
    while at < end:
        word = np.uint64(data[at])
        if extends_sign and word >= _MORE:
            word |= _SIGN
        state = _mix_hash(state, _mix_word(word))
        at += 1
    return _finish(state ^ np.uint64(end - start))


@kernel
def _magnitude(word: Any) -> Any:
    """The absolute value of a 32-bit word read as signed; 2³¹ for the lowest."""
    return word if word < np.uint64(0x80000000) else np.uint64(0x100000000) - word


@kernel
def fluss_buckets(data: U8, bounds: I64, count: int, extends_sign: bool, buckets: Any) -> None:
    """Buckets of tables without a lake."""
    for i in range(len(buckets)):
        code = _hash42(data, bounds[i], bounds[i + 1], extends_sign)
        mixed = _magnitude(_finish(_mix_hash(np.uint64(0), _mix_word(code)) ^ np.uint64(4)))
        if mixed == np.uint64(0x80000000):
            mixed = np.uint64(0)
        buckets[i] = np.int64(mixed) % count


@kernel
def paimon_buckets(data: U8, bounds: I64, count: int, extends_sign: bool, buckets: Any) -> None:
    """Buckets of Paimon."""
    for i in range(len(buckets)):
        buckets[i] = np.int64(_magnitude(_hash42(data, bounds[i], bounds[i + 1], extends_sign))) % count


@kernel
def iceberg_buckets(data: U8, bounds: I64, count: int, buckets: Any) -> None:
    """Buckets of Iceberg."""
    for i in range(len(buckets)):
        state = np.uint64(0)
        at, end = bounds[i], bounds[i + 1]
        while at + 4 <= end:
            state = _mix_hash(state, _mix_word(_word_at(data, at)))
            at += 4
        if at < end:
            word = np.uint64(0)
            for j in range(end - at):
                word |= np.uint64(data[at + j]) << np.uint64(8 * j)
            state ^= _mix_word(word)
        code = _finish(state ^ np.uint64(end - bounds[i]))
        buckets[i] = np.int64(code & np.uint64(0x7FFFFFFF)) % count
