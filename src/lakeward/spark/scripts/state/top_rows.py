"""TopRows: ORDER BY and LIMIT of a streaming SELECT: which of its rows are shown, and what changes among them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]
Change = tuple[str, Row]


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column that rows are sorted by: its number, which way, and where NULLs are."""

    number: int
    is_descending: bool = False
    nulls_first: bool = True

    def sort(self, rows: list[Row]) -> list[Row]:
        """The rows by this column; those that are equal in it stay in their order."""
        at = self.number
        nulls = [row for row in rows if row[at] is None]
        others = [row for row in rows if row[at] is not None]
        others.sort(key=lambda row: _sortable(row[at]), reverse=self.is_descending)
        return nulls + others if self.nulls_first else others + nulls


@dataclass(frozen=True, slots=True)
class TopRows:
    """The first rows by some columns; without columns, those that came first."""

    columns: tuple[SortColumn, ...] = ()
    limit: int | None = None

    def of(self, rows: Iterable[Row]) -> list[Row]:
        """The rows that are shown, in their order."""
        found = list(rows)
        # The last column first: a sort keeps the order of what is equal.
        for column in reversed(self.columns):
            found = column.sort(found)
        return found[: self.limit]


def changes_between(before: Sequence[Row], after: Sequence[Row]) -> list[Change]:
    """What makes the rows that were shown those that are: what is gone first."""
    had, has = Counter(map(repr, before)), Counter(map(repr, after))
    gone, new = had - has, has - had
    return [*_changes("delete", before, gone), *_changes("insert", after, new)]


def _changes(kind: str, rows: Sequence[Row], counts: Counter[str]) -> list[Change]:
    left, found = Counter(counts), []
    for row in rows:
        if left[repr(row)] > 0:
            left[repr(row)] -= 1
            found.append((kind, row))
    return found


def _sortable(value: Any) -> tuple[bool, Any]:
    """NaN is greater than all numbers, and equal to itself."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0.0 if is_nan else value
