"""The time in a partition's name."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.server.coordinator.tables.time_format import TimeFormat, TimeUnit

TIME = datetime(2024, 3, 5, 7, 30)


@pytest.mark.parametrize(
    ("unit", "pattern", "text"),
    [
        (TimeUnit.YEAR, "yyyy", "2024"),
        (TimeUnit.YEAR, "uuuu", "2024"),
        (TimeUnit.QUARTER, "yyyyQ", "20241"),
        (TimeUnit.QUARTER, "yyyy-'Q'q", "2024-Q1"),
        (TimeUnit.MONTH, "yyyy_LL", "2024_03"),
        (TimeUnit.DAY, "yyyy-MM-dd", "2024-03-05"),
        (TimeUnit.HOUR, "'h'yyyyMMdd-HH", "h20240305-07"),
    ],
)
def test_a_pattern_names_the_period(unit: TimeUnit, pattern: str, text: str) -> None:
    """Fields are written with fixed width, quoted text as it stands; the name matches its own pattern."""
    time_format = TimeFormat.parse(pattern, unit)
    assert time_format.text(TIME) == text
    assert time_format.matches(text)


@pytest.mark.parametrize(
    ("unit", "pattern", "why"),
    [
        (TimeUnit.DAY, "yyyyMM", "must contain fields .year, month, day."),
        (TimeUnit.DAY, "ddMMyyyy", "in this order"),
        (TimeUnit.DAY, "yyyyMMddHH", "must contain fields"),
        (TimeUnit.DAY, "yyMMdd", "4 letters, not 2"),
        (TimeUnit.MONTH, "yyyyMMM", "2 letters, not 3"),
        (TimeUnit.QUARTER, "yyyyQQ", "1 letters, not 2"),
        (TimeUnit.YEAR, "[yyyy]", "no meaning"),
        (TimeUnit.YEAR, "{yyyy}", "no meaning"),
        (TimeUnit.YEAR, "yyyy'", "no meaning"),
        (TimeUnit.YEAR, "Tyyyy", "letter 'T'"),
        (TimeUnit.HOUR, "yyyyMMddhh", "letter 'h'"),
        (TimeUnit.DAY, "yyyy/MM/dd", "ASCII"),
        (TimeUnit.DAY, "yyyy''MMdd", "ASCII"),
        (TimeUnit.DAY, "'__'yyyyMMdd", "reserved"),
        (TimeUnit.DAY, "yyyyMMdd" + "'" + "x" * 200 + "'", "longer than"),
        (TimeUnit.DAY, "", "must contain fields"),
    ],
)
def test_a_pattern_that_cannot_name_the_periods_is_refused(unit: TimeUnit, pattern: str, why: str) -> None:
    """Every field of the unit, largest first, fixed width, and a legal partition value."""
    with pytest.raises(ValueError, match=why):
        TimeFormat.parse(pattern, unit)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("20241111", True),
        ("20240230", True),  # as in Java, a day past the end of its month is taken for the last one
        ("20241301", False),
        ("20240100", False),
        ("20240132", False),
        ("2024111", False),
        ("202411111", False),
        ("2024-11-11", False),
        ("abcdefgh", False),
        ("٢٠٢٤١١١١", False),
        ("20241111\n", False),
        ("", False),
    ],
)
def test_values_are_checked_against_the_pattern(text: str, matches: bool) -> None:
    """Only a name the pattern could have made is one."""
    assert TimeFormat.parse("yyyyMMdd", TimeUnit.DAY).matches(text) is matches


@given(
    unit=st.sampled_from(TimeUnit),
    times=st.tuples(*[st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31))] * 2),
)
def test_text_order_is_time_order(unit: TimeUnit, times: tuple[datetime, datetime]) -> None:
    """Names compare as the times they stand for; retention relies on it."""
    time_format = TimeFormat.parse(unit.default_pattern, unit)
    earlier, later = sorted(times)
    assert time_format.text(earlier) <= time_format.text(later)


@pytest.mark.parametrize("unit", list(TimeUnit))
def test_default_patterns_are_legal(unit: TimeUnit) -> None:
    """What a table gets without asking passes the same rules."""
    time_format = TimeFormat.parse(unit.default_pattern, unit)
    assert time_format.text(TIME) != time_format.text(TIME + timedelta(days=400))
