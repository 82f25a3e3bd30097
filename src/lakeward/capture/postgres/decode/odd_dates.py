"""Dates that few programs can read: before our era, and after the year 9999."""

from __future__ import annotations

import re

_ODD = re.compile(r"(\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:\+00)?)?( BC)?")
_ERA_YEARS, _ERA_DAYS, _EPOCH_DAYS = 400, 146_097, 719_468
_DAY_US = 86_400_000_000
_INT64_MAX = 2**63


def days_of(text: str) -> int:
    """Days since 1970; OverflowError for infinity."""
    return _days(_parts(text))


def micros_of(text: str) -> int:
    """Microseconds since 1970; OverflowError for infinity."""
    found = _parts(text)
    hours, minutes, seconds = (int(found[n] or 0) for n in (4, 5, 6))
    micros = int((found[7] or "").ljust(6, "0"))
    value = _days(found) * _DAY_US + ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros
    if not -_INT64_MAX <= value < _INT64_MAX:
        raise OverflowError(text)
    return value


def _parts(text: str) -> re.Match[str]:
    found = _ODD.fullmatch(text)
    if found is None:
        raise OverflowError(text)
    return found


def _days(found: re.Match[str]) -> int:
    """The Gregorian calendar counted backwards and forwards, with a year 0, which is 1 BC."""
    year, month, day = (int(found[n]) for n in (1, 2, 3))
    if found[8]:
        year = 1 - year
    year -= month <= 2
    era, of_era = divmod(year, _ERA_YEARS)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _EPOCH_DAYS
