"""BadRowError: the row that does not fit, where it is and why."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.cli.input.failures import Failure
from lakeward.records.texts.misfits import MISFITS


class BadRowError(Failure):
    """A row of a file does not fit the table. `place` is e.g. `orders.csv, line 17`."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")
        self.place = place
        self.why = why


def rows_that_fit(rows: int, attempt: Callable[[int], object]) -> int:
    """How many rows from the start can be converted; `attempt(n)` converts the first n, or raises a misfit.

    Returns `rows` when all can; otherwise the index of the first one that cannot.
    """
    if _succeeds(attempt, rows):
        return rows
    good, bad = 0, rows
    while bad - good > 1:
        middle = (good + bad) // 2
        if _succeeds(attempt, middle):
            good = middle
        else:
            bad = middle
    return good


def _succeeds(attempt: Callable[[int], object], rows: int) -> bool:
    try:
        attempt(rows)
    except MISFITS:
        return False
    return True
