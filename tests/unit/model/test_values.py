"""Values of columns, and what people write for them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.model.values import Timestamp, decimal_of, of_python, to_python, unscaled_of

ROW = t.ROW([("d", t.DATE()), ("l", t.ARRAY(t.TIME(3))), ("m", t.MAP(t.STRING(), t.TIMESTAMP(6)))])


@given(st.datetimes())
def test_datetimes_survive_a_round_trip(moment: dt.datetime) -> None:
    """To the microsecond, before and after 1970; without a zone means UTC."""
    timestamp = Timestamp.of_datetime(moment)
    assert 0 <= timestamp.nano_of_ms < 1_000_000
    assert timestamp.to_datetime() == moment.replace(tzinfo=dt.UTC)
    assert Timestamp.of_nanos(timestamp.epoch_ns) == timestamp


def test_zones_are_converted() -> None:
    """The moment counts, not the clock on the wall."""
    moment = dt.datetime(2024, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert Timestamp.of_datetime(moment).to_datetime() == dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


@given(st.integers(1, 38), st.data())
def test_decimals_survive_a_round_trip(precision: int, data) -> None:
    """Every unscaled number within the precision is exact."""
    scale = data.draw(st.integers(0, precision))
    unscaled = data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    made = decimal_of(unscaled, precision, scale)
    assert unscaled_of(made, precision, scale) == unscaled
    assert -made.as_tuple().exponent == scale


@pytest.mark.parametrize("value", ["1.234", "NaN", "Infinity", "1E+99999", "92233720368547758.08"])
def test_decimals_that_do_not_fit(value: str) -> None:
    """DECIMAL(5, 2) takes no more digits behind its point than it has, and no more than 64 bits."""
    with pytest.raises(ValueError, match="not exact"):
        unscaled_of(Decimal(value), 5, 2)


def test_long_decimals_keep_to_their_digits() -> None:
    """DECIMAL(20, 2) holds twenty digits."""
    with pytest.raises(ValueError, match="not exact"):
        unscaled_of(Decimal(10**18), 20, 2)
    with pytest.raises(ValueError, match="more than 20 digits"):
        decimal_of(10**20, 20, 2)


@pytest.mark.parametrize("unscaled", [10_000, -10_000, 2**63 - 1, -(2**63)])
def test_short_decimals_hold_sums_beyond_their_digits(unscaled: int) -> None:
    """DECIMAL(4, 2) is stored as 64 bits, and a sum that the server made may need them."""
    made = decimal_of(unscaled, 4, 2)
    assert made == Decimal(unscaled).scaleb(-2)
    assert unscaled_of(made, 4, 2) == unscaled


@pytest.mark.parametrize("value", ["100.00", "-100", "NaN"])
def test_people_keep_to_the_digits_of_a_decimal(value: str) -> None:
    """What is written by hand is checked against the type."""
    with pytest.raises(InvalidError, match="not a value of type DECIMAL"):
        of_python(t.DECIMAL(4, 2), Decimal(value))


@pytest.mark.parametrize(
    ("type_", "written", "held", "read"),
    [
        (t.DATE(), dt.date(1970, 1, 2), 1, dt.date(1970, 1, 2)),
        (t.DATE(), -1, -1, dt.date(1969, 12, 31)),
        (t.TIME(3), dt.time(0, 0, 1, 2000), 1002, dt.time(0, 0, 1, 2000)),
        (t.TIMESTAMP(3), dt.datetime(1970, 1, 1, 0, 0, 1), Timestamp(1000), dt.datetime(1970, 1, 1, 0, 0, 1)),
        (t.TIMESTAMP_LTZ(9), (5, 7), Timestamp(5, 7), dt.datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=dt.UTC)),
        (t.DECIMAL(5, 2), 1.1, Decimal("1.10"), Decimal("1.10")),
        (t.DECIMAL(5, 2), 3, Decimal("3.00"), Decimal("3.00")),
        (t.DOUBLE(), 1, 1.0, 1.0),
        (t.BYTES(), bytearray(b"x"), b"x", b"x"),
        (t.STRING(), None, None, None),
        (
            ROW,
            {"d": dt.date(1970, 1, 2), "l": [dt.time(0, 0, 1), None], "m": {"k": dt.datetime(1970, 1, 1)}},
            (1, (1000, None), (("k", Timestamp(0)),)),
            {"d": dt.date(1970, 1, 2), "l": [dt.time(0, 0, 1), None], "m": {"k": dt.datetime(1970, 1, 1)}},
        ),
    ],
)
def test_what_people_write_and_read(type_, written, held, read) -> None:
    """Dates and dicts outside, numbers and tuples inside."""
    assert of_python(type_, written) == held
    assert to_python(type_, held) == read


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (t.DATE(), "soon"),
        (t.TIME(3), dt.time(0, 0, 0, 1)),
        (t.TIMESTAMP(3), 5),
        (t.DECIMAL(5, 2), Decimal("1.234")),
        (t.DECIMAL(5, 2), "x"),
        (t.BYTES(), "text"),
        (t.ARRAY(t.INT()), 5),
        (ROW, {"d": 1}),
        (ROW, (1, 2)),
    ],
)
def test_what_is_no_value(type_, value) -> None:
    """The refusal shows value and type."""
    with pytest.raises(InvalidError, match="is not a value of type"):
        of_python(type_, value)
