"""Mistakes are told in the order of their places."""

from __future__ import annotations

from lakeward.pipelines.text.mistake import Mistake, MistakesError


def test_all_are_told_once_in_order() -> None:
    """The same mistake is not told twice; the first line counts them."""
    one, two = Mistake("a.yaml", 1, 1, "x."), Mistake("a.yaml", 3, 2, "y.")
    error = MistakesError([two, one, two])
    assert error.message == "There are 2 mistakes; nothing was started.\na.yaml:1:1: x.\na.yaml:3:2: y."
