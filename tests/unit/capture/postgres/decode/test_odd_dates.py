"""Days of dates that Python's calendar has, and of those it lacks."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.capture.postgres.decode.odd_dates import days_of, micros_of


@given(st.dates())
def test_days_are_those_of_the_calendar(day: dt.date) -> None:
    """From year 1 to 9999 Python knows them."""
    assert days_of(day.isoformat()) == (day - dt.date(1970, 1, 1)).days


@given(st.datetimes())
def test_moments_are_those_of_the_calendar(moment: dt.datetime) -> None:
    """With and without a fraction."""
    micros = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    assert micros_of(moment.isoformat(sep=" ")) == micros_of(moment.isoformat(sep=" ") + "+00") == micros


def test_beyond_the_calendar() -> None:
    """The year before 1 is 1 BC; infinity is no date."""
    assert days_of("0001-12-31 BC") == days_of("0001-01-01") - 1
    assert days_of("0001-01-01 BC") == days_of("0001-01-01") - 366
    assert days_of("10000-01-01") == days_of("9999-12-31") + 1
    assert micros_of("10000-01-01 00:00:00.5") == days_of("10000-01-01") * 86_400_000_000 + 500_000
    for text in ("infinity", "-infinity"):
        with pytest.raises(OverflowError):
            days_of(text)
        with pytest.raises(OverflowError):
            micros_of(text)
