"""Dates, times of day and moments of the texts that stand for them. It loads numba."""

from __future__ import annotations

import numpy as np

from lakeward.formats.values.number_kernels import first_of, last_of
from lakeward.formats.values.values import ABSENT, FITS, I64, NULL, STRING, U8, UNFIT
from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import get_u8

DAY, TIME_OF_DAY, MOMENT, MOMENT_IN_ZONE = range(4)
_DAY_SECONDS = 86_400
_I64_MAX = 2**63 - 1


@kernel_part
def _digits(at: int, count: int) -> int:
    """The number of so many digits, or -1."""
    number = 0
    for i in range(count):
        digit = get_u8(at + i) - 48
        if digit < 0 or digit > 9:
            return -1
        number = number * 10 + digit
    return number


@kernel_part
def _day(at: int, end: int) -> int:
    """Days since 1970 of yyyy-MM-dd, or -2^63."""
    wrong = -(2**63)
    if end - at < 10 or get_u8(at + 4) != 45 or get_u8(at + 7) != 45:
        return wrong
    year, month, day = _digits(at, 4), _digits(at + 5, 2), _digits(at + 8, 2)
    if year < 1 or month < 1 or month > 12 or day < 1:
        return wrong
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = 31
    if month == 2:
        longest = 29 if is_leap else 28
    elif month == 4 or month == 6 or month == 9 or month == 11:
        longest = 30
    if day > longest:
        return wrong
    # Years that begin in March: the odd day of leap years is their last.
    y = year if month > 2 else year - 1
    era = y // 400
    year_of_era = y - era * 400
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


@kernel_part
def _clock(at: int, end: int) -> tuple[int, int, int]:
    """Seconds and nanoseconds of HH:mm[:ss[.fraction]], and where it ends; or -1."""
    if end - at < 5 or get_u8(at + 2) != 58:
        return -1, 0, at
    hour, minute, second, nanos = _digits(at, 2), _digits(at + 3, 2), 0, 0
    at += 5
    if at < end and get_u8(at) == 58:
        if end - at < 3:
            return -1, 0, at
        second = _digits(at + 1, 2)
        at += 3
        if at < end and get_u8(at) == 46:
            at += 1
            places = 0
            while at < end and 48 <= get_u8(at) <= 57:
                if places < 9:
                    nanos = nanos * 10 + get_u8(at) - 48
                    places += 1
                at += 1
            if places == 0:
                return -1, 0, at
            for _ in range(9 - places):
                nanos *= 10
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return -1, 0, at
    return hour * 3600 + minute * 60 + second, nanos, at


@kernel_part
def _zone(at: int, end: int) -> tuple[int, int]:
    """Seconds east of UTC of Z, ±HH, ±HHmm or ±HH:mm, and where it ends; -1 if it is none."""
    c = get_u8(at)
    if c == 90 or c == 122:
        return 0, at + 1
    if (c != 43 and c != 45) or end - at < 3:
        return 0, -1
    hours, minutes = _digits(at + 1, 2), 0
    to = at + 3
    if to < end:
        to += 1 if get_u8(to) == 58 else 0
        if end - to != 2:
            return 0, -1
        minutes = _digits(to, 2)
        to += 2
    if hours < 0 or hours > 18 or minutes < 0 or minutes > 59:
        return 0, -1
    east = hours * 3600 + minutes * 60
    return (east if c == 43 else -east), to


@kernel
def times(starts: I64, ends: I64, kinds: U8, form: int, ticks: int, step: int, out: I64, status: U8) -> None:
    """Numbers of days, or of ticks of which a second has so many; a fraction is cut to whole steps."""
    nanos_of_tick = 1_000_000_000 // ticks
    for i in range(len(starts)):
        if kinds[i] <= NULL:
            status[i] = ABSENT
            continue
        status[i] = UNFIT
        if kinds[i] != STRING:
            continue
        at = first_of(starts[i], ends[i])
        end = last_of(at, ends[i])
        day = 0
        if form != TIME_OF_DAY:
            day = _day(at, end)
            if day == -(2**63):
                continue
            at += 10
            if form == DAY:
                if at == end:
                    out[i] = day
                    status[i] = FITS
                continue
            if at >= end or (get_u8(at) != 32 and (get_u8(at) | 32) != 116):
                continue
            at += 1
        second, nanos, at = _clock(at, end)
        if second < 0:
            continue
        if form == MOMENT_IN_ZONE and at < end:
            if get_u8(at) == 32:
                at += 1
            if at >= end:
                continue
            east, at = _zone(at, end)
            second -= east
        if at != end:
            continue
        second += day * _DAY_SECONDS
        if second > _I64_MAX // ticks - 1 or second < -(_I64_MAX // ticks) + 1:
            continue
        fraction = nanos // nanos_of_tick
        out[i] = second * ticks + fraction - fraction % step
        status[i] = FITS


def times_of(starts: I64, ends: I64, kinds: U8, form: int, ticks: int, step: int) -> tuple[I64, U8]:
    """Numbers as Arrow has them, and what became of each."""
    out, status = np.zeros(len(starts), np.int64), np.empty(len(starts), np.uint8)
    times(starts, ends, kinds, form, ticks, step, out, status)
    return out, status
