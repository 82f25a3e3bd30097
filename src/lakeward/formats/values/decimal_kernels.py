"""Decimals of the texts that stand for them, exactly. It loads numba.

A number of 128 bits is four parts of 32 while it is made, the lowest first.
"""

from __future__ import annotations

import numpy as np

from lakeward.formats.values.number_kernels import first_of, last_of, number_end
from lakeward.formats.values.values import ABSENT, FITS, I64, NULL, REAL, STRING, U8, UNFIT, WHOLE
from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import get_u8

_PLUS, _MINUS, _POINT, _ZERO, _FIVE = 43, 45, 46, 48, 53
_MASK = 0xFFFFFFFF
_EXPONENT_MAX = 100_000


@kernel_part
def _shift(p0: int, p1: int, p2: int, p3: int, factor: int, digit: int) -> tuple[int, int, int, int]:
    """A number times a factor, and a digit more."""
    t = p0 * factor + digit
    p0 = t & _MASK
    t = p1 * factor + (t >> 32)
    p1 = t & _MASK
    t = p2 * factor + (t >> 32)
    return p0, p1, t & _MASK, p3 * factor + (t >> 32)


@kernel_part
def _measure(at: int, end: int) -> tuple[int, int, int]:
    """Where the digits of a number end, how many count, and how many of these are before the point."""
    digits, fraction, is_behind = 0, 0, False
    while at < end and (get_u8(at) | 32) != 101:
        c = get_u8(at)
        if c == _POINT:
            is_behind = True
        else:
            if digits > 0 or c != _ZERO:
                digits += 1
            if is_behind:
                fraction += 1
        at += 1
    stop, exponent = at, 0
    if at < end:
        at += 1
        is_below = get_u8(at) == _MINUS
        if is_below or get_u8(at) == _PLUS:
            at += 1
        while at < end:
            exponent = min(exponent * 10 + get_u8(at) - _ZERO, _EXPONENT_MAX)
            at += 1
        exponent = -exponent if is_below else exponent
    return stop, digits, digits - fraction + exponent


@kernel_part
def _is_power(p0: int, p1: int, p2: int, p3: int, digits: int) -> bool:
    """Whether a number is one and so many zeros."""
    q0, q1, q2, q3 = 1, 0, 0, 0
    for _ in range(digits):
        q0, q1, q2, q3 = _shift(q0, q1, q2, q3, 10, 0)
    return p0 == q0 and p1 == q1 and p2 == q2 and p3 == q3


@kernel_part
def _decimal(at: int, end: int, precision: int, scale: int) -> tuple[bool, int, int]:
    """Whether a number without its sign fits, and its two halves, the low one first."""
    stop, digits, before = _measure(at, end)
    keep = before + scale if digits else 0
    if keep > precision:
        return False, 0, 0
    p0, p1, p2, p3, seen = 0, 0, 0, 0, 0
    rounds_up = False
    while at < stop and keep >= 0:
        c = get_u8(at)
        at += 1
        if c == _POINT or (seen == 0 and c == _ZERO):
            continue
        if seen == keep:
            rounds_up = c >= _FIVE
            break
        seen += 1
        p0, p1, p2, p3 = _shift(p0, p1, p2, p3, 10, c - _ZERO)
    while seen < keep:
        seen += 1
        p0, p1, p2, p3 = _shift(p0, p1, p2, p3, 10, 0)
    if rounds_up:
        p0, p1, p2, p3 = _shift(p0, p1, p2, p3, 1, 1)
        if keep == precision and _is_power(p0, p1, p2, p3, precision):
            return False, 0, 0
    return True, p1 << 32 | p0, p3 << 32 | p2


@kernel
def decimals(starts: I64, ends: I64, kinds: U8, precision: int, scale: int, out: I64, status: U8) -> None:
    """Decimals of 128 bits, low half first; digits beyond the scale are rounded, half away from zero."""
    for i in range(len(starts)):
        kind = kinds[i]
        if kind <= NULL:
            status[i] = ABSENT
            continue
        status[i] = UNFIT
        if kind not in (WHOLE, REAL, STRING):
            continue
        at = first_of(starts[i], ends[i])
        end = last_of(at, ends[i])
        is_negative = False
        if at < end and get_u8(at) in (_MINUS, _PLUS):
            is_negative = get_u8(at) == _MINUS
            at += 1
        if at >= end or number_end(at, end) != end:
            continue
        fits, low, high = _decimal(at, end, precision, scale)
        if not fits:
            continue
        if is_negative:
            low, high = -low, ~high
            if low == 0:
                high += 1
        out[2 * i], out[2 * i + 1] = low, high
        status[i] = FITS


def decimals_of(starts: I64, ends: I64, kinds: U8, precision: int, scale: int) -> tuple[I64, U8]:
    """Decimals as Arrow has them, and what became of each."""
    out, status = np.zeros(2 * len(starts), np.int64), np.empty(len(starts), np.uint8)
    decimals(starts, ends, kinds, precision, scale, out, status)
    return out, status
