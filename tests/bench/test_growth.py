"""What is said of a curve is what it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench.scale.growth import growth

_POINTS = (1, 10, 100, 1000)


@pytest.mark.parametrize(
    ("cost", "word"),
    [
        (lambda _: 5.0, "flat"),
        (lambda x: 5 + x / 100_000, "flat"),
        (lambda x: x**0.5, "less than linear"),
        (lambda x: 3.0 * x, "linear"),
        (lambda x: x * x, "more than linear"),
    ],
)
def test_a_curve_is_called_by_its_growth(cost: Callable[[int], float], word: str) -> None:
    """The slope at the end of a curve decides, not its height."""
    found = growth([(x, float(cost(x))) for x in _POINTS])
    assert found is not None
    assert found.word == word


def test_one_point_is_no_curve() -> None:
    """Nothing is said of what was measured once."""
    assert growth([(10, 1.0)]) is None
