"""Loops that read numbers and times as they stand in answers to prepared statements."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.capture.mysql.cells.calendar_kernels import day_number
from lakeward.records.kernels.kernel import kernel, kernel_part


@kernel
def parse_decimals(data: Any, starts: Any, lengths: Any, out: Any) -> None:
    """Decimals without their point, as the halves of 128-bit numbers: the server writes every digit of the scale."""
    ten, mask, shift = np.uint64(10), np.uint64(0xFFFFFFFF), np.uint64(32)
    for i in range(lengths.size):
        at, end = starts[i], starts[i] + lengths[i]
        negative = at < end and data[at] == 45
        if negative:
            at += 1
        low, high = np.uint64(0), np.uint64(0)
        for j in range(at, end):
            if data[j] == 46:
                continue
            bottom = (low & mask) * ten + np.uint64(data[j] - 48)
            top = (low >> shift) * ten + (bottom >> shift)
            low = (top << shift) | (bottom & mask)
            high = high * ten + (top >> shift)
        if negative:
            low = ~low + np.uint64(1)
            high = ~high + (np.uint64(1) if low == np.uint64(0) else np.uint64(0))
        out[2 * i] = low
        out[2 * i + 1] = high


@kernel_part
def _four(data: Any, at: int) -> Any:
    value = np.int64(data[at]) | np.int64(data[at + 1]) << 8
    return value | np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24


@kernel
def unpack_moments(data: Any, starts: Any, lengths: Any, out: Any, absent: Any) -> None:
    """Dates with or without times, of 0, 4, 7 or 11 bytes, as microseconds since 1970; `absent` marks zero dates."""
    for i in range(lengths.size):
        at, size = starts[i], lengths[i]
        if size < 0:
            continue
        day = np.int64(-(1 << 40))
        if size >= 4:
            year = np.int64(data[at]) | np.int64(data[at + 1]) << 8
            day = day_number(year, np.int64(data[at + 2]), np.int64(data[at + 3]))
        if day == -(1 << 40):
            absent[i] = True
            continue
        value = day * 86_400
        if size >= 7:
            value += np.int64(data[at + 4]) * 3600 + np.int64(data[at + 5]) * 60 + np.int64(data[at + 6])
        value *= 1_000_000
        if size >= 11:
            value += _four(data, at + 7)
        out[i] = value


@kernel
def unpack_times(data: Any, starts: Any, lengths: Any, out: Any) -> None:
    """Times of 0, 8 or 12 bytes, as microseconds; below zero, and longer than a day, too."""
    for i in range(lengths.size):
        at, size = starts[i], lengths[i]
        if size < 8:
            continue
        hours = _four(data, at + 1) * 24 + np.int64(data[at + 5])
        value = (hours * 3600 + np.int64(data[at + 6]) * 60 + np.int64(data[at + 7])) * 1_000_000
        if size >= 12:
            value += _four(data, at + 8)
        out[i] = -value if data[at] else value
