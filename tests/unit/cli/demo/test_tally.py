"""The line of the demo that counts."""

from __future__ import annotations

from lakeward.cli.demo.tally import Halves


def test_both_halves_make_the_whole() -> None:
    """A person sees a sum that is right, with figures as people write them."""
    assert str(Halves(12_340, 11_000, 1_340)) == "12,340 orders = 11,000 in the lake + 1,340 only in the log"


def test_a_wrong_sum_would_be_seen() -> None:
    """The line says what was counted, not what ought to be."""
    assert "≠" in str(Halves(3, 1, 1))
