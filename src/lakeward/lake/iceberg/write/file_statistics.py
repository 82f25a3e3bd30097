"""The footer of a Parquet file → what a manifest says of it: counts, sizes, bounds.

Bounds are those that pyiceberg would make, at a third of its time: it builds objects for each column of each file, and
a table of thousands of buckets has as many files in a round. Of days and moments before year 1 or after 9999, and of
texts with one odd letter, it could not write any, nor show them; such columns are stored like others, without bounds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from pyarrow import ArrowNotImplementedError
from pyiceberg import types as ice
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import (
    MetricModeTypes,
    StatisticsCollector,
    compute_statistics_plan,
    parquet_path_to_id_mapping,
)
from pyiceberg.schema import Schema
from pyiceberg.utils.decimal import unscaled_to_decimal
from pyiceberg.utils.truncate import truncate_upper_bound_binary_string, truncate_upper_bound_text_string

#: The last letter before those that UTF-8 does not have; a bound that is cut after it would be rounded up to one.
_BEFORE_SURROGATES = "\ud7ff"
_DAYS = -719_162, 2_932_896
_MICROS = -62_135_596_800_000_000, 253_402_300_799_999_999
#: Types whose numbers a footer holds as a manifest does, and the numbers that Python can name.
_NUMBERS: dict[type[ice.IcebergType], tuple[str, tuple[int, int] | None]] = {
    ice.BooleanType: ("?", None),
    ice.IntegerType: ("<i", None),
    ice.LongType: ("<q", None),
    ice.FloatType: ("<f", None),
    ice.DoubleType: ("<d", None),
    ice.DateType: ("<i", _DAYS),
    ice.TimeType: ("<q", None),
    ice.TimestampType: ("<q", _MICROS),
    ice.TimestamptzType: ("<q", _MICROS),
}


class FileStatistics:
    """What the manifest of a table says of its files; all that does not depend on the file is found out once."""

    def __init__(self, schema: Schema, properties: Mapping[str, str]) -> None:
        plan = compute_statistics_plan(schema, dict(properties))
        # Both go through the schema as Parquet does: leaf by leaf.
        self._columns = [_Column(plan[id_]) for id_ in parquet_path_to_id_mapping(schema).values()]

    def of(self, footer: Any) -> dict[str, Any]:
        """The fields of a data file that its footer tells."""
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        sizes: dict[int, int] = {}
        values: dict[int, int] = {}
        nulls: dict[int, int] = {}
        lows: dict[int, bytes] = {}
        highs: dict[int, bytes] = {}
        for place, column in enumerate(self._columns):
            chunks = [group.column(place) for group in groups]
            id_ = column.id
            sizes[id_] = sum(chunk.total_compressed_size for chunk in chunks)
            if not column.is_counted:
                continue
            values[id_] = sum(chunk.num_values for chunk in chunks)
            told = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
            if len(told) < len(chunks):
                continue
            if all(one.has_null_count for one in told):
                nulls[id_] = sum(one.null_count for one in told)
            low, high = column.bounds([one for one in told if one.has_min_max]) if column.is_bounded else (None, None)
            if low is not None:
                lows[id_] = low
            if high is not None:
                highs[id_] = high
        return {
            "record_count": footer.num_rows,
            "column_sizes": sizes,
            "value_counts": values,
            "null_value_counts": nulls,
            "nan_value_counts": {},
            "lower_bounds": lows,
            "upper_bounds": highs,
            "split_offsets": sorted(_begin(group.column(0)) for group in groups),
        }


class _Column:
    """How one column is told."""

    def __init__(self, asked: StatisticsCollector) -> None:
        self.id = asked.field_id
        self.is_counted = asked.mode.type is not MetricModeTypes.NONE
        self.is_bounded = self.is_counted and asked.mode.type is not MetricModeTypes.COUNTS
        self._type = asked.iceberg_type
        self._width = asked.mode.length
        format_, self._named = _NUMBERS.get(type(self._type), ("", None))
        self._pack: Callable[[Any], bytes] | None = struct.Struct(format_).pack if format_ else None

    def bounds(self, told: list[Any]) -> tuple[bytes | None, bytes | None]:
        """The least and the greatest value, as a manifest holds them; None where there is none or it has no name."""
        if not told:
            return None, None
        if self._pack is not None:
            low, high = min(one.min_raw for one in told), max(one.max_raw for one in told)
            if self._named is not None and not self._named[0] <= low <= high <= self._named[1]:
                return None, None
            return self._pack(low), self._pack(high)
        try:
            low, high = min(self._value(one, "min") for one in told), max(self._value(one, "max") for one in told)
        except ArrowNotImplementedError:
            return None, None
        return self._cut(low, high)

    def _value(self, told: Any, which: str) -> Any:
        if isinstance(self._type, ice.DecimalType) and told.physical_type != "FIXED_LEN_BYTE_ARRAY":
            return unscaled_to_decimal(getattr(told, f"{which}_raw"), self._type.scale)
        return getattr(told, which)

    def _cut(self, low: Any, high: Any) -> tuple[bytes | None, bytes | None]:
        """Long texts and bytes are known by how they begin."""
        if isinstance(self._type, ice.StringType):
            if _BEFORE_SURROGATES in high:
                return None, None
            low, high = low[: self._width], truncate_upper_bound_text_string(high, self._width)
        elif isinstance(self._type, ice.BinaryType):
            low, high = low[: self._width], truncate_upper_bound_binary_string(high, self._width)
        return to_bytes(self._type, low), None if high is None else to_bytes(self._type, high)


def _begin(chunk: Any) -> int:
    """Where a column begins: with its dictionary, if it has one."""
    data: int = chunk.data_page_offset
    return min(data, chunk.dictionary_page_offset) if chunk.has_dictionary_page else data
