"""Work that mostly waits, done on threads beside each other."""

from __future__ import annotations

from functools import partial
from threading import Barrier

import pytest

from lakeward.query.duckdb.side_by_side import side_by_side


def test_results_come_in_order() -> None:
    """However many there are, none included."""
    for count in (0, 1, 3, 50):
        assert list(side_by_side([partial(int, n) for n in range(count)])) == list(range(count))


def test_works_run_at_the_same_time() -> None:
    """Each waits for the others here."""
    together = Barrier(3, timeout=10)
    assert sorted(side_by_side([together.wait] * 3)) == [0, 1, 2]


def test_what_goes_wrong_is_raised_in_its_place() -> None:
    """What was before it has been given."""
    results = side_by_side([partial(int, "1"), partial(int, "x"), partial(int, "3")])
    assert next(results) == 1
    with pytest.raises(ValueError, match="'x'"):
        next(results)
