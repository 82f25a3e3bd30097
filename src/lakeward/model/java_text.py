"""Numbers and times as Java prints them; partition names and Hudi's keys are made of such text.

Unlike `datetime`, the calendar here has no last year: everything a DATE or TIMESTAMP can store has a text.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import NamedTuple

from lakeward.model.values import Timestamp

_MS_PER_DAY = 86_400_000
_FLOAT = struct.Struct("<f")


class Digits(NamedTuple):
    """A number as sign, significant digits and the power of ten of the first one."""

    sign: str
    digits: str
    power: int


def double_text(value: float) -> str:
    """A DOUBLE as Double.toString prints it."""
    return _odd_text(value) or _number_text(double_digits(value, least=2))


def float_text(value: float) -> str:
    """A FLOAT as Float.toString prints it."""
    return _odd_text(value) or _number_text(float_digits(value, least=2))


def double_digits(value: float, least: int) -> Digits:
    """The fewest digits, but at least some, that read back as the same DOUBLE."""
    return _shortest(value, lambda text: float(text) == value, least)


def float_digits(value: float, least: int) -> Digits:
    """The fewest digits, but at least some, that read back as the same FLOAT."""
    bits = _FLOAT.pack(value)

    def comes_back(text: str) -> bool:
        try:
            return _FLOAT.pack(float(text)) == bits
        except OverflowError:  # rounded up past the largest FLOAT
            return False

    return _shortest(_FLOAT.unpack(bits)[0], comes_back, least)


def _shortest(value: float, comes_back: Callable[[str], bool], least: int) -> Digits:
    scientific = next(text for more in range(least - 1, 18) if comes_back(text := f"{value:.{more}e}"))
    mantissa, _, exponent = scientific.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0")
    return Digits(sign, digits or "0", int(exponent))


def _odd_text(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _number_text(number: Digits) -> str:
    sign, digits, power = number
    if -3 <= power < 7:
        whole, fraction = positional(number)
        return f"{sign}{whole}.{fraction or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def positional(number: Digits) -> tuple[str, str]:
    """The digits before and after the point; those after may be none."""
    _, digits, power = number
    if power < 0:
        return "0", "0" * (-power - 1) + digits
    padded = digits.ljust(power + 1, "0")
    return padded[: power + 1], padded[power + 1 :]


def date_text(epoch_day: int) -> str:
    """A DATE as year-month-day."""
    year, month, day = civil_of(epoch_day)
    return f"{year:04d}-{month:02d}-{day:02d}"


def local_text(timestamp: Timestamp) -> str:
    """A TIMESTAMP as LocalDateTime.toString prints it: seconds and fraction only where needed."""
    day, hour, minute, second, nanos = split(timestamp)
    seconds = f":{second:02d}{_fraction(nanos)}" if second or nanos else ""
    return f"{date_text(day)}T{hour:02d}:{minute:02d}{seconds}"


def instant_text(timestamp: Timestamp) -> str:
    """A TIMESTAMP_LTZ as Instant.toString prints it, in UTC."""
    day, hour, minute, second, nanos = split(timestamp)
    return f"{date_text(day)}T{hour:02d}:{minute:02d}:{second:02d}{_fraction(nanos)}Z"


def _fraction(nanos: int) -> str:
    """Three, six or nine digits, or nothing."""
    if not nanos:
        return ""
    text = f"{nanos:09d}"
    while text.endswith("000"):
        text = text[:-3]
    return f".{text}"


def split(timestamp: Timestamp) -> tuple[int, int, int, int, int]:
    """Epoch day, hour, minute, second and nanoseconds of the second, in UTC."""
    day, ms_of_day = divmod(timestamp.epoch_ms, _MS_PER_DAY)
    second_of_day, ms = divmod(ms_of_day, 1000)
    minute_of_day, second = divmod(second_of_day, 60)
    return day, minute_of_day // 60, minute_of_day % 60, second, ms * 1_000_000 + timestamp.nano_of_ms


def civil_of(epoch_day: int) -> tuple[int, int, int]:
    """Year, month and day of the Gregorian calendar, for any day."""
    # Years counted from March put the leap day last; eras of 400 years repeat exactly.
    era, day_of_era = divmod(epoch_day + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    return era * 400 + year_of_era + (month <= 2), month, day


def day_of(year: int, month: int, day: int) -> int:
    """The epoch day of a date; ValueError when there is no such date."""
    shifted_year = year - (month <= 2)
    era, year_of_era = divmod(shifted_year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    epoch_day = era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
    if civil_of(epoch_day) != (year, month, day):
        raise ValueError(f"there is no day {year}-{month}-{day}")
    return epoch_day
