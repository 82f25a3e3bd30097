"""Spread: how values are spread, finely enough for the slowest in a thousand, at the price of one count a value.

Bounds are the preferred numbers of the series R20, twenty to a factor of ten: a quantile that is read from them is
right to within 8 %. What people are shown are a few of the same bounds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

_R20 = (*(1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8), *(3.15, 3.55, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9))
#: From ten microseconds to a hundred seconds.
FINE_BOUNDS = (*(float(f"{step}e{power}") for power in range(-5, 2) for step in _R20), 100.0)


class Spread:
    """Values by fine bounds since the start, and how they were at earlier times."""

    __slots__ = ("_marks", "counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(FINE_BOUNDS) + 1)
        self.total = 0.0
        self._marks = [list(self.counts)]

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(FINE_BOUNDS, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    def mark(self, kept: int) -> None:
        """Call it by the clock: recent is what came after the oldest of so many marks."""
        self._marks = [*self._marks, list(self.counts)][-kept:]

    def below(self, bounds: Sequence[float]) -> list[int]:
        """How many values are at most each bound, and all of them; bounds are some of the fine ones."""
        sums = list(accumulate(self.counts))
        return [*(sums[bisect_left(FINE_BOUNDS, bound)] for bound in bounds), sums[-1]]

    def recent_quantiles(self, shares: Sequence[float]) -> list[float]:
        """The values below which these shares of the recent ones are; not a number where there were none."""
        recent = [now - then for now, then in zip(self.counts, self._marks[0], strict=True)]
        return [_quantile(recent, share) for share in shares]


def _quantile(counts: list[int], share: float) -> float:
    """By the middle of the two bounds between which it is; values beyond the last bound are shown as that."""
    total = sum(counts)
    if not total:
        return float("nan")
    wanted = share * total
    so_far = 0
    for place, count in enumerate(counts):
        so_far += count
        if count and so_far >= wanted:
            if place >= len(FINE_BOUNDS):
                break
            low = FINE_BOUNDS[place - 1] if place else 0.0
            return (low + FINE_BOUNDS[place]) / 2
    return FINE_BOUNDS[-1]
