"""How values are spread."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.telemetry.rows.requests import REQUEST_SECONDS
from lakeward.telemetry.spread import FINE_BOUNDS, Spread


@given(st.lists(st.floats(2e-5, 99), min_size=1, max_size=300), st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_a_quantile_is_right_to_within_eight_percent(values: list[float], share: float) -> None:
    """Bounds are so close that the middle of two is near enough to whatever lies between them."""
    spread = Spread()
    for value in values:
        spread.observe(value)
    exact = sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
    assert spread.recent_quantiles([share])[0] == pytest.approx(exact, rel=0.08)


def test_recent_is_what_came_after_the_oldest_mark() -> None:
    """A slow minute is forgotten after two."""
    spread = Spread()
    spread.observe(5)
    for _ in range(2):
        assert spread.recent_quantiles([0.5])[0] > 1
        spread.mark(2)
    assert math.isnan(spread.recent_quantiles([0.5])[0])
    spread.observe(0.001)
    assert spread.recent_quantiles([0.5])[0] < 0.01
    assert spread.count == 2


def test_what_is_slower_than_all_bounds_is_shown_as_the_last() -> None:
    """Nobody is told a number that was never measured."""
    spread = Spread()
    spread.observe(1e6)
    assert spread.recent_quantiles([0.99]) == [100.0]


def test_bounds_that_are_shown_are_some_of_the_fine_ones() -> None:
    """So counts below them are exact."""
    assert set(REQUEST_SECONDS.bounds) <= set(FINE_BOUNDS)
    spread = Spread()
    for value in (0.001, 0.0011, 3):
        spread.observe(value)
    assert spread.below((0.001, 0.0025)) == [1, 2, 3]
