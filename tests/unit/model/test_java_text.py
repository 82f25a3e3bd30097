"""Numbers and times as Java prints them."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.model import java_text
from lakeward.model.values import Timestamp


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (1.5, "1.5"), (100.0, "100.0"), (-123456.789, "-123456.789"),
        (9999999.0, "9999999.0"), (1e7, "1.0E7"), (12345678.9, "1.23456789E7"), (1e20, "1.0E20"), (0.001, "0.001"),
        (0.0012345, "0.0012345"), (0.0001, "1.0E-4"), (5e-324, "4.9E-324"), (1.7976931348623157e308,
        "1.7976931348623157E308"), (2e23, "2.0E23"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"), (0.1, "0.1"), (1 / 3, "0.3333333333333333"),
    ],
)  # fmt: skip
def test_doubles(value: float, text: str) -> None:
    """Plain from 0.001 to ten million, scientific beyond, shortest digits."""
    assert java_text.double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5"), (0.1, "0.1"), (3.4028235e38, "3.4028235E38"), (1e-45, "1.4E-45"), (16777216.0, "1.6777216E7")],
)
def test_floats(value: float, text: str) -> None:
    """A FLOAT shows only the digits its 32 bits carry."""
    assert java_text.float_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_text_reads_back(value: float) -> None:
    """The text names the same number."""
    assert float(java_text.double_text(value)) == value


@given(st.dates())
def test_days_of_the_calendar(day: dt.date) -> None:
    """Within the years of `date` the calendar agrees with it."""
    epoch_day = (day - dt.date(1970, 1, 1)).days
    assert java_text.civil_of(epoch_day) == (day.year, day.month, day.day)


def test_days_past_the_last_year_of_date() -> None:
    """The calendar goes on."""
    assert java_text.date_text(2932897) == "10000-01-01"
    assert java_text.civil_of(-(2**31))[0] < -5_000_000


@pytest.mark.parametrize(
    ("timestamp", "local", "instant"),
    [
        (Timestamp(0), "1970-01-01T00:00", "1970-01-01T00:00:00Z"),
        (Timestamp(1000), "1970-01-01T00:00:01", "1970-01-01T00:00:01Z"),
        (Timestamp(1), "1970-01-01T00:00:00.001", "1970-01-01T00:00:00.001Z"),
        (Timestamp(0, 1000), "1970-01-01T00:00:00.000001", "1970-01-01T00:00:00.000001Z"),
        (Timestamp(-1, 999_999), "1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999Z"),
    ],
)
def test_timestamps(timestamp: Timestamp, local: str, instant: str) -> None:
    """Fractions come in groups of three digits; a local time leaves out zero seconds."""
    assert java_text.local_text(timestamp) == local
    assert java_text.instant_text(timestamp) == instant
