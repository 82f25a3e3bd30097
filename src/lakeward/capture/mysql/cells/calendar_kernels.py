"""Days of the calendar, for kernels: MySQL knows dates that are none, such as 0000-00-00."""

from __future__ import annotations

from typing import Any

from lakeward.records.kernels.kernel import kernel_part

#: What no day is.
NO_DAY = -(1 << 40)


@kernel_part
def day_number(year: Any, month: Any, day: Any) -> Any:
    """Days since 1970-01-01; NO_DAY for what the calendar does not have."""
    if month < 1 or month > 12 or day < 1:
        return -(1 << 40)
    last = 31
    if month == 2:
        last = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    elif month in (4, 6, 9, 11):
        last = 30
    if day > last:
        return -(1 << 40)
    shifted = year - (1 if month <= 2 else 0)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
