"""Figures: numbers as people say them."""

from __future__ import annotations

import pytest

from lakeward.console.text.figures import bytes_text, count_text, duration_text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (9_999, "9,999"), (12_345, "12.3 k"), (1_200_000, "1.2 M"), (3e9, "3 G"), (2.5e12, "2.5 T")],
)
def test_counts_are_exact_while_they_are_small(number: float, text: str) -> None:
    """Then three digits are enough."""
    assert count_text(number) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (34_200_000, "34.2 MB"), (5.5e15, "5.5 PB")]
)
def test_bytes_have_a_unit(size: float, text: str) -> None:
    """By powers of a thousand."""
    assert bytes_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0123, "12 ms"), (3.44, "3.4 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_durations_have_the_unit_that_fits(seconds: float, text: str) -> None:
    """From milliseconds to days."""
    assert duration_text(seconds) == text
