"""Bounds on offsets and times, found in the filters of a view: what lies outside of them is not read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakeward.query.request.filters import And, Compare, Filter
from lakeward.query.request.views import COMMIT_TIMESTAMP, LOG_OFFSET

_LOWER, _UPPER = {"=", "<=>", ">=", ">"}, {"=", "<=>", "<=", "<"}


@dataclass(frozen=True, slots=True)
class OffsetBounds:
    """Matching rows have offsets from `start` up to, not including, `stop`, and are not older than `from_ms`."""

    start: int = 0
    stop: int | None = None
    from_ms: int | None = None

    def clip(self, start: int, stop: int) -> tuple[int, int]:
        """The part of a stretch of a log that lies within."""
        return max(start, self.start), stop if self.stop is None else min(stop, self.stop)


def offset_bounds(filters: Iterable[Filter]) -> OffsetBounds:
    """The bounds that filters (all must hold) set. Times have no upper one: nothing promises that they only grow."""
    start, stop, from_ms = 0, None, None
    for compare in _comparisons(filters):
        value, is_lower, is_upper = compare.value, compare.op in _LOWER, compare.op in _UPPER
        if compare.column == LOG_OFFSET and type(value) is int:
            if is_lower:
                start = max(start, value + (compare.op == ">"))
            if is_upper:
                end = value + (compare.op != "<")
                stop = end if stop is None else min(stop, end)
        elif compare.column == COMMIT_TIMESTAMP and is_lower and _is_instant(value):
            time_ms = int(value.timestamp() * 1000) - 1  # a millisecond early: fractions are cut off
            from_ms = time_ms if from_ms is None else max(from_ms, time_ms)
    return OffsetBounds(start, stop, from_ms)


def _is_instant(value: object) -> bool:
    return isinstance(value, dt.datetime) and value.tzinfo is not None


def _comparisons(filters: Iterable[Filter]) -> Iterator[Compare]:
    for filter_ in filters:
        if isinstance(filter_, And):
            yield from _comparisons(filter_.children)
        elif isinstance(filter_, Compare):
            yield filter_
