"""Whole numbers of the texts that stand for them, and what a real one may look like. It loads numba."""

from __future__ import annotations

import numpy as np

from lakeward.formats.values.values import ABSENT, FITS, I64, NULL, RARE, REAL, STRING, U8, UNFIT, WHOLE
from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import get_u8

_PLUS, _MINUS, _POINT, _ZERO, _NINE = 43, 45, 46, 48, 57
_I64_MIN = -(2**63)


@kernel_part
def first_of(at: int, end: int) -> int:
    """Where a text begins, blanks left out."""
    while at < end and get_u8(at) <= 32:
        at += 1
    return at


@kernel_part
def last_of(at: int, end: int) -> int:
    """Where a text ends, blanks left out."""
    while end > at and get_u8(end - 1) <= 32:
        end -= 1
    return end


@kernel
def whole_numbers(starts: I64, ends: I64, kinds: U8, low: int, high: int, out: I64, status: U8) -> None:
    """Whole numbers between two bounds; one with a point or an exponent is RARE."""
    for i in range(len(starts)):
        kind = kinds[i]
        if kind <= NULL:
            status[i] = ABSENT
            continue
        if kind == REAL:
            status[i] = RARE
            continue
        status[i] = UNFIT
        if kind != WHOLE and kind != STRING:
            continue
        at = first_of(starts[i], ends[i])
        end = last_of(at, ends[i])
        is_negative = False
        if at < end and (get_u8(at) == _MINUS or get_u8(at) == _PLUS):
            is_negative = get_u8(at) == _MINUS
            at += 1
        is_number = at < end
        number = 0  # below zero, where there is one number more
        while at < end:
            digit = get_u8(at) - _ZERO
            if digit < 0 or digit > 9 or number < -922337203685477580 or (number == -922337203685477580 and digit > 8):
                is_number = False
                break
            number = number * 10 - digit
            at += 1
        if not is_number or (not is_negative and number == _I64_MIN):
            continue
        number = number if is_negative else -number
        if low <= number <= high:
            out[i] = number
            status[i] = FITS


@kernel_part
def number_end(at: int, end: int) -> int:
    """Where a number ends: digits, a point, an exponent; `at` if there is none."""
    start, digits = at, 0
    while at < end and _ZERO <= get_u8(at) <= _NINE:
        at += 1
        digits += 1
    if at < end and get_u8(at) == _POINT:
        at += 1
        while at < end and _ZERO <= get_u8(at) <= _NINE:
            at += 1
            digits += 1
    if digits == 0:
        return start
    if at < end and (get_u8(at) | 32) == 101:
        at += 1
        if at < end and (get_u8(at) == _PLUS or get_u8(at) == _MINUS):
            at += 1
        if at >= end or not _ZERO <= get_u8(at) <= _NINE:
            return start
        while at < end and _ZERO <= get_u8(at) <= _NINE:
            at += 1
    return at


@kernel
def real_numbers(starts: I64, ends: I64, kinds: U8, status: U8) -> None:
    """Which values are numbers, blanks and a plus cut off in place; what is written in letters is RARE."""
    for i in range(len(starts)):
        kind = kinds[i]
        if kind <= NULL:
            status[i] = ABSENT
        elif kind in (WHOLE, REAL):
            status[i] = FITS
        elif kind != STRING:
            status[i] = UNFIT
        else:
            at = first_of(starts[i], ends[i])
            end = last_of(at, ends[i])
            if at < end and get_u8(at) == _PLUS:
                at += 1
                sign = at
            else:
                sign = at + 1 if at < end and get_u8(at) == _MINUS else at
            starts[i], ends[i] = at, end
            if sign < end and number_end(sign, end) == end:
                status[i] = FITS
            else:
                status[i] = RARE if sign < end and (get_u8(sign) == 78 or get_u8(sign) == 73) else UNFIT


def whole_numbers_of(starts: I64, ends: I64, kinds: U8, bits: int) -> tuple[I64, U8]:
    """Whole numbers of so many bits, and what became of each."""
    out, status = np.zeros(len(starts), np.int64), np.empty(len(starts), np.uint8)
    whole_numbers(starts, ends, kinds, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, out, status)
    return out, status


def real_numbers_of(starts: I64, ends: I64, kinds: U8) -> tuple[I64, I64, U8]:
    """Where the texts of real numbers lie, and which values are some."""
    starts, ends, status = starts.copy(), ends.copy(), np.empty(len(starts), np.uint8)
    real_numbers(starts, ends, kinds, status)
    return starts, ends, status
