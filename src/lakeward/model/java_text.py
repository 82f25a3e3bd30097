"""Numbers and times as Java prints them; partition names and Hudi's keys are made of such text.

Unlike `datetime`, the calendar here has no last year: everything a DATE or TIMESTAMP can store has a text.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from lakeward.model.values import Timestamp

_MS_PER_DAY = 86_400_000
_FLOAT = struct.Struct("<f")


def double_text(value: float) -> str:
    """A DOUBLE as Double.toString prints it."""
    return _number_text(value, lambda text: float(text) == value)


def float_text(value: float) -> str:
    """A FLOAT as Float.toString prints it."""
    bits = _FLOAT.pack(value)
    (value,) = _FLOAT.unpack(bits)

    def comes_back(text: str) -> bool:
        try:
            return _FLOAT.pack(float(text)) == bits
        except OverflowError:  # rounded up past the largest FLOAT
            return False

    return _number_text(value, comes_back)


def _number_text(value: float, comes_back: Callable[[str], bool]) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    # Java looks for the shortest decimal of at least two digits that reads back as the same number.
    scientific = next(text for digits in range(1, 18) if comes_back(text := f"{value:.{digits}e}"))
    mantissa, _, exponent = scientific.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0")
    power = int(exponent)
    if -3 <= power < 7:
        padded = "0" * -power + digits if power < 0 else digits.ljust(power + 1, "0")
        point = max(power, 0) + 1
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


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
