"""The smallest and largest value of each column of a file, as a manifest has them. Taken from the Parquet footer."""

from __future__ import annotations

from typing import Any

from lakeward.lake.paimon.schema.binary_row import to_binary
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import Timestamp, of_python

_BOUNDED = frozenset(
    {
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INTEGER,
        TypeRoot.BIGINT,
        TypeRoot.CHAR,
        TypeRoot.STRING,
        TypeRoot.DATE,
        TypeRoot.TIMESTAMP,
        TypeRoot.TIMESTAMP_LTZ,
    }
)
_COUNTED = frozenset({TypeRoot.DATE, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_MILLIS_DIGITS = 3
#: Longer texts have no bounds: a cut one would have to be rounded up.
_TEXT_MAX = 16


def value_bounds(shape: TableShape, footer: Any) -> tuple[list[str], dict[str, Any]]:
    """Which columns have bounds, and these, in that order."""
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    places = {footer.schema.column(i).path: i for i in range(footer.num_columns)}
    names, types, low, high, nulls = [], [], [], [], []
    for _, name, type_ in shape.columns:
        if type_.root not in _BOUNDED or name not in places:
            continue
        found = [group.column(places[name]).statistics for group in groups]
        if not all(s is not None and s.has_min_max and s.has_null_count for s in found):
            continue
        if type_.root in _COUNTED:  # there are more of them than Python can name
            bounds = min(s.min_raw for s in found), max(s.max_raw for s in found)
        else:
            bounds = min(s.min for s in found), max(s.max for s in found)
        if any(isinstance(bound, str) and len(bound) > _TEXT_MAX for bound in bounds):
            continue
        names.append(name)
        types.append(type_)
        low.append(_value(type_, bounds[0]))
        high.append(_value(type_, bounds[1]))
        nulls.append(sum(s.null_count for s in found))
    return names, {"_MIN_VALUES": to_binary(types, low), "_MAX_VALUES": to_binary(types, high), "_NULL_COUNTS": nulls}


def _value(type_: DataType, bound: Any) -> Any:
    if type_.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        if (type_.precision or 0) <= _MILLIS_DIGITS:
            return Timestamp(bound)
        return Timestamp.of_nanos(bound * 1000)
    return of_python(type_, bound)
