"""Whether rows from one key to another can be among changed keys. One-sided: in doubt they can."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: Statistics do not know of NaN; nested columns have none.
_NOT_JUDGED = (pa.types.is_floating, pa.types.is_nested)


class KeyRanges:
    """Keys, each of their columns sorted."""

    def __init__(self, keys: pa.Table) -> None:
        self._keys = keys.select([f.name for f in keys.schema if not any(test(f.type) for test in _NOT_JUDGED)])

    @cached_property
    def _sorted_values(self) -> dict[str, _Values]:
        return {name: _Values(self._keys[name]) for name in self._keys.column_names}

    def may_meet(self, ranges: Mapping[str, tuple[Any, Any]]) -> bool:
        """Whether some key can lie in all of these ranges, from the smallest to the largest value of a column."""
        return all(_meets(values, *ranges[name]) for name, values in self._sorted_values.items() if name in ranges)

    def may_be_in(self, file: Path) -> bool:
        """Whether a Parquet file can hold one of the keys, by the statistics of its row groups."""
        try:
            footer = pq.read_metadata(file)
        except FileNotFoundError:
            return True  # whoever reads it will say so
        places = {footer.schema.column(n).path: n for n in range(footer.num_columns)}
        wanted = {name: places[name] for name in self._keys.column_names if name in places}
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            told = {name: _range(group.column(place).statistics) for name, place in wanted.items()}
            if self.may_meet({name: range_ for name, range_ in told.items() if range_ is not None}):
                return True
        return False


def _range(statistics: Any) -> tuple[Any, Any] | None:
    try:
        return (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else None
    except (OverflowError, ValueError):  # a moment beyond Python's, a text cut amid a letter
        return None


def _meets(values: _Values, low: Any, high: Any) -> bool:
    try:
        at = bisect_left(values, low)
        return at < len(values) and bool(values[at] <= high)
    except (TypeError, OverflowError, ValueError):  # statistics in another type, a moment that Python cannot name
        return True


class _Values(Sequence[Any]):
    """The values of a column, sorted; only those that are looked at become Python's."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        distinct = column.unique()
        self._values = distinct.take(pc.sort_indices(distinct))

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: Any) -> Any:
        return self._values[at].as_py()
