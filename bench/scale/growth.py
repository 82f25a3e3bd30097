"""What a curve does when its axis grows: flat, linear, or worse. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: A slope in log-log: below it nothing grows that a run could tell from noise.
_FLAT = 0.15
#: Above it, ten times as much costs more than sixteen times as much.
_LINEAR = 1.2


@dataclass(frozen=True)
class Growth:
    """The slope of a curve in log-log, at its end: 0 is flat, 1 is linear."""

    slope: float
    times: float

    @property
    def word(self) -> str:
        """As people say it."""
        if self.slope < _FLAT:
            return "flat"
        if self.slope < 1 - _FLAT:
            return "less than linear"
        return "linear" if self.slope <= _LINEAR else "more than linear"


def growth(curve: Sequence[tuple[int, float]]) -> Growth | None:
    """How the last two decades of a curve grow; None with fewer than two points."""
    points = [(x, y) for x, y in curve if y > 0]
    if len(points) < 2:
        return None
    (x0, y0), (x1, y1) = points[-min(3, len(points))], points[-1]
    return Growth(math.log(y1 / y0) / math.log(x1 / x0), y1 / points[0][1])
