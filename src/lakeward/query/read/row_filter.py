"""RowFilter: rows that the filters of a request drop are left out before they travel. One-sided, as filters are: what
cannot be decided exactly as engines do is not judged, and where most rows stay they all do.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.query.request.filters import (
    And,
    Compare,
    Contains,
    EndsWith,
    Filter,
    In,
    IsNull,
    Not,
    NotNull,
    Or,
    StartsWith,
)
from lakeward.records.arrow.arrow_types import arrow_type

#: To copy the rows that stay costs more than it saves where they are more than this share.
_STAYS_MAX = 0.75
_WHOLE = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT)
#: What a value must be for a column; fractions know NaN, and CHAR is padded by some.
_VALUES: dict[TypeRoot, type] = {
    **dict.fromkeys(_WHOLE, int),
    TypeRoot.BOOLEAN: bool,
    TypeRoot.STRING: str,
    TypeRoot.DECIMAL: Decimal,
    TypeRoot.DATE: dt.date,
    TypeRoot.TIMESTAMP: dt.datetime,
    TypeRoot.TIMESTAMP_LTZ: dt.datetime,
}
#: Engines and Python count moments in microseconds; columns that count in others are not judged.
_MOMENTS = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_COMPARISONS: dict[str, Any] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}

#: Rows → whether each of them stays; NULL as SQL has it.
_Test = Callable[[pa.RecordBatch], Any]


class RowFilter:
    """What of some filters (all must hold) can be decided on rows with these columns."""

    def __init__(self, filters: Iterable[Filter], schema: Schema) -> None:
        # Whether a value is there is asked of every column of a join, and nearly always it is.
        tests = (None if isinstance(one, NotNull) else _test(one, schema) for one in filters)
        self._tests = [test for test in tests if test is not None]

    def all_matching(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that may match, of batches as they come."""
        if not self._tests:
            return batches
        return (left for rows in batches if (left := self.matching(rows)).num_rows)

    def matching(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that may match."""
        for test in self._tests:
            stays = test(rows)
            if stays.true_count <= rows.num_rows * _STAYS_MAX:
                rows = rows.filter(stays)
        return rows


def _test(filter_: Filter, schema: Schema) -> _Test | None:
    match filter_:
        case And(children) | Or(children):
            tests = [_test(child, schema) for child in children]
            known = [test for test in tests if test is not None]
            if not known or len(known) < len(tests):
                return None
            join = pc.and_kleene if isinstance(filter_, And) else pc.or_kleene
            return lambda rows: reduce(join, [test(rows) for test in known])
        case Not(child):
            inner = _test(child, schema)
            return None if inner is None else lambda rows: pc.invert(inner(rows))
        case _:
            return _of_column(filter_, schema) if filter_.column in schema.positions else None


def _of_column(
    filter_: Compare | In | IsNull | NotNull | StartsWith | EndsWith | Contains, schema: Schema
) -> _Test | None:
    name, type_ = filter_.column, schema.column(filter_.column).type
    match filter_:
        case IsNull():
            return lambda rows: rows.column(name).is_null()
        case NotNull():
            return lambda rows: rows.column(name).is_valid()
        case Compare(op, _, value):
            other = _array([value], type_)
            return None if other is None else _comparison(op, name, other[0])
        case In(_, values):
            among = _array(values, type_)
            return None if among is None else lambda rows: pc.is_in(rows.column(name), among)
        case StartsWith(_, value) | EndsWith(_, value) | Contains(_, value) if type_.root is TypeRoot.STRING:
            holds = {StartsWith: pc.starts_with, EndsWith: pc.ends_with, Contains: pc.match_substring}[type(filter_)]
            return lambda rows: holds(rows.column(name), value)
        case _:
            return None


def _comparison(op: str, name: str, value: pa.Scalar) -> _Test:
    if op == "<=>":
        return lambda rows: pc.fill_null(pc.equal(rows.column(name), value), False)  # noqa: FBT003 - Arrow's signature
    compare = _COMPARISONS[op]
    return lambda rows: compare(rows.column(name), value)


def _array(values: Iterable[Any], type_: DataType) -> pa.Array | None:
    """Values in a column's type; None where one of them is of another kind, or has more digits."""
    kind, made = _VALUES.get(type_.root), arrow_type(type_)
    found = list(values)
    if any(type(value) is not kind for value in found) or (type_.root in _MOMENTS and made.unit != "us"):
        return None
    try:
        return pa.array(found, made)
    except (pa.ArrowInvalid, OverflowError):
        return None
