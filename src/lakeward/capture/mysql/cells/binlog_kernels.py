"""Loops that read numbers and times as they stand in the binlog."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.capture.mysql.cells.calendar_kernels import day_number
from lakeward.records.kernels.kernel import kernel, kernel_part


@kernel_part
def _big_endian(data: Any, at: int, width: int) -> Any:
    value = np.int64(0)
    for j in range(width):
        value = (value << 8) | np.int64(data[at + j])
    return value


@kernel_part
def _little_endian(data: Any, at: int, width: int) -> Any:
    value = np.int64(0)
    for j in range(width):
        value |= np.int64(data[at + j]) << (8 * j)
    return value


@kernel_part
def _microseconds(data: Any, at: int, width: int) -> Any:
    """The fraction of a second in 0 to 3 bytes."""
    value = _big_endian(data, at, width)
    return value * 10_000 if width == 1 else value * 100 if width == 2 else value


@kernel
def read_integers(data: Any, starts: Any, lengths: Any, signed: bool, out: Any) -> None:
    """Whole numbers of 1 to 8 bytes."""
    for i in range(lengths.size):
        if lengths[i] > 0:
            value = _little_endian(data, starts[i], lengths[i])
            bits = 8 * lengths[i]
            if signed and bits < 64 and value >> (bits - 1):
                value -= np.int64(1) << bits
            out[i] = value


@kernel
def read_decimals(data: Any, starts: Any, lengths: Any, whole: int, scale: int, out: Any) -> None:
    """Packed decimals of up to 38 digits, as the two halves of 128-bit numbers.

    Nine digits to four bytes, counted from the point, fewer digits to fewer bytes; the first bit is the sign, and a
    number below zero has every bit turned.
    """
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for i in range(lengths.size):
        if lengths[i] <= 0:
            continue
        at = starts[i]
        negative = data[at] & 0x80 == 0
        flip = 0xFF if negative else 0
        low, high = np.uint64(0), np.uint64(0)
        first = True
        for part in range(2):
            left = whole if part == 0 else scale
            digits = left % 9 if part == 0 else min(left, 9)
            if part == 0 and digits == 0:
                digits = min(left, 9)
            while left > 0:
                width = (digits + 1) // 2 if digits < 9 else 4
                group = np.int64(0)
                for j in range(width):
                    byte = np.int64(data[at + j]) ^ flip
                    if first:
                        byte ^= 0x80
                        first = False
                    group = (group << 8) | byte
                at += width
                factor = np.uint64(1)
                for _ in range(digits):
                    factor *= np.uint64(10)
                bottom = (low & mask) * factor + np.uint64(group)
                top = (low >> shift) * factor + (bottom >> shift)
                low = (top << shift) | (bottom & mask)
                high = high * factor + (top >> shift)
                left -= digits
                digits = min(left, 9)
        if negative:
            low = ~low + np.uint64(1)
            high = ~high + (np.uint64(1) if low == np.uint64(0) else np.uint64(0))
        out[2 * i] = low
        out[2 * i + 1] = high


@kernel
def read_dates(data: Any, starts: Any, lengths: Any, out: Any, absent: Any) -> None:
    """Dates of three bytes, as microseconds since 1970."""
    for i in range(lengths.size):
        if lengths[i] == 3:
            value = _little_endian(data, starts[i], 3)
            day = day_number(value >> 9, (value >> 5) & 15, value & 31)
            if day == -(1 << 40):
                absent[i] = True
            else:
                out[i] = day * 86_400_000_000


@kernel
def read_datetimes(data: Any, starts: Any, lengths: Any, out: Any, absent: Any) -> None:
    """Dates with times of five bytes and a fraction, as microseconds since 1970."""
    for i in range(lengths.size):
        if lengths[i] >= 5:
            value = _big_endian(data, starts[i], 5) - 0x8000000000
            months = value >> 22
            day = day_number(months // 13, months % 13, (value >> 17) & 31)
            if day == -(1 << 40):
                absent[i] = True
            else:
                seconds = ((value >> 12) & 31) * 3600 + ((value >> 6) & 63) * 60 + (value & 63)
                fraction = _microseconds(data, starts[i] + 5, lengths[i] - 5)
                out[i] = (day * 86_400 + seconds) * 1_000_000 + fraction


@kernel
def read_timestamps(data: Any, starts: Any, lengths: Any, out: Any, absent: Any) -> None:
    """Seconds since 1970 and a fraction, as microseconds; zero is no moment."""
    for i in range(lengths.size):
        if lengths[i] >= 4:
            seconds = _big_endian(data, starts[i], 4)
            fraction = _microseconds(data, starts[i] + 4, lengths[i] - 4)
            absent[i] = seconds == 0 and fraction == 0
            out[i] = seconds * 1_000_000 + fraction


@kernel
def read_times(data: Any, starts: Any, lengths: Any, out: Any) -> None:
    """Times of three bytes and a fraction, as microseconds; a time below zero borrows from its seconds."""
    for i in range(lengths.size):
        if lengths[i] < 3:
            continue
        width = lengths[i] - 3
        whole = _big_endian(data, starts[i], 3) - 0x800000
        fraction = _big_endian(data, starts[i] + 3, width)
        if whole < 0 and fraction:
            whole += 1
            fraction -= np.int64(1) << (8 * width)
        negative = whole < 0 or fraction < 0
        whole, fraction = abs(whole), abs(fraction)
        fraction = fraction * 10_000 if width == 1 else fraction * 100 if width == 2 else fraction
        seconds = ((whole >> 12) & 1023) * 3600 + ((whole >> 6) & 63) * 60 + (whole & 63)
        value = seconds * 1_000_000 + fraction
        out[i] = -value if negative else value
