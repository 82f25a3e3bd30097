"""Compiled loops of a lookup: keys out of a request, values into an answer. One by one they would cost too much."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakeward.records.kernels.kernel import kernel

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

#: What cut_keys finds beside the keys.
PARTITION_ID, HAS_PARTITION, BUCKET_ID, HAS_BUCKET, NAME_START, NAME_END, KEY_COUNT, HEAD_FIELDS = range(8)
DAMAGED = -1


@kernel
def _varint(data: Any, at: Any) -> Any:
    """The number at a position, and the position after it; DAMAGED as position when it is cut off."""
    value = np.uint64(0)
    shift = np.uint64(0)
    while at < len(data) and shift < 64:
        byte = np.uint64(data[at])
        at += 1
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < 0x80:
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(0), DAMAGED


@kernel
def cut_keys(data: U8, head: I64, starts: I64, ends: I64) -> Any:
    """The fields of one bucket's request. With empty `starts` the keys are only counted; False when it is damaged."""
    at = 0
    count = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if at < 0:
            return False
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            if at < 0:
                return False
            if number == 1:
                head[PARTITION_ID], head[HAS_PARTITION] = value, 1
            elif number == 2:
                head[BUCKET_ID], head[HAS_BUCKET] = value, 1
            continue
        if kind != 2:
            return False
        size, at = _varint(data, at)
        if at < 0 or size < 0 or size > len(data) - at:
            return False
        if number == 3:
            if count < len(starts):
                starts[count], ends[count] = at, at + size
            count += 1
        elif number == 4:
            head[NAME_START], head[NAME_END] = at, at + size
        at += size
    head[KEY_COUNT] = count
    return True


@kernel
def _width(value: Any) -> Any:
    width = 1
    while value > 127:
        value >>= 7
        width += 1
    return width


@kernel
def _put_varint(out: Any, at: Any, value: Any) -> Any:
    while value > 127:
        out[at] = (value & 0x7F) | 0x80
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@kernel
def values_bytes(starts: I64, ends: I64) -> Any:
    """Bytes of the answer's values: `5 {1 value}` each, `5 {}` where there is none."""
    total = 0
    for i in range(len(starts)):
        inner = 0
        if starts[i] >= 0:
            size = ends[i] - starts[i]
            inner = 1 + _width(size) + size
        total += 1 + _width(inner) + inner
    return total


@kernel
def put_values(data: U8, starts: I64, ends: I64, out: U8, at: Any) -> None:
    """Write the answer's values."""
    for i in range(len(starts)):
        out[at] = 5 << 3 | 2
        at += 1
        if starts[i] < 0:
            out[at] = 0
            at += 1
            continue
        size = ends[i] - starts[i]
        at = _put_varint(out, at, 1 + _width(size) + size)
        out[at] = 1 << 3 | 2
        at = _put_varint(out, at + 1, size)
        for j in range(starts[i], ends[i]):
            out[at] = data[j]
            at += 1
