"""The smallest and largest value of each column of a file, as a manifest has them. Taken from the Parquet footer."""

from __future__ import annotations

from typing import Any

from lakeward.lake.paimon.binary_row import to_binary
from lakeward.lake.paimon.shape import TableShape
from lakeward.model.data_types import TypeRoot
from lakeward.model.values import of_python

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
        bounds = min(s.min for s in found), max(s.max for s in found)
        if any(isinstance(bound, str) and len(bound) > _TEXT_MAX for bound in bounds):
            continue
        names.append(name)
        types.append(type_)
        low.append(of_python(type_, bounds[0]))
        high.append(of_python(type_, bounds[1]))
        nulls.append(sum(s.null_count for s in found))
    return names, {"_MIN_VALUES": to_binary(types, low), "_MAX_VALUES": to_binary(types, high), "_NULL_COUNTS": nulls}
