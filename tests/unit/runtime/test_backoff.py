"""Pauses between attempts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.runtime.backoff import Backoff
from lakeward.runtime.entropy import SeededEntropy


def test_pauses_double_up_to_the_limit() -> None:
    """Nobody is asked all the time, and nobody is forgotten."""
    backoff = Backoff(0.5, 3.0)
    assert [backoff.pause_s(failures) for failures in range(6)] == [0.0, 0.5, 1.0, 2.0, 3.0, 3.0]


@given(failures=st.integers(1, 1 << 70), seed=st.integers(0, 1 << 32))
def test_chance_shortens_a_pause_by_a_quarter_at_most(failures: int, seed: int) -> None:
    """Also after more failures than a number of seconds can be doubled."""
    plain = Backoff(0.02, 60.0).pause_s(failures)
    assert plain * 0.75 <= Backoff(0.02, 60.0, SeededEntropy(seed)).pause_s(failures) <= plain


def test_many_who_failed_together_come_back_one_by_one() -> None:
    """Each draws a pause of its own."""
    backoff = Backoff(1.0, 60.0, SeededEntropy(7))
    assert len({backoff.pause_s(3) for _ in range(100)}) == 100
