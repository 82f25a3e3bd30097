"""Columns of a Parquet file whose bounds pyiceberg cannot write. They are stored like any other, without bounds."""

from __future__ import annotations

from typing import Any

#: The last letter before those that UTF-8 does not have; a bound that is cut after it would be rounded up to one.
_BEFORE_SURROGATES = "\ud7ff"
_JUDGED = {"DATE", "TIMESTAMP", "STRING"}


def unnamed_bounds(footer: Any) -> set[str]:
    """The paths of columns with days and moments before year 1 or after 9999, or with texts of one odd letter."""
    found = set()
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for place in range(footer.num_columns):
            column = group.column(place)
            if column.is_stats_set and footer.schema.column(place).logical_type.type in _JUDGED:
                try:
                    bounds = column.statistics.min, column.statistics.max
                except (OverflowError, ValueError):
                    found.add(column.path_in_schema)
                    continue
                if isinstance(bounds[1], str) and _BEFORE_SURROGATES in bounds[1]:
                    found.add(column.path_in_schema)
    return found
