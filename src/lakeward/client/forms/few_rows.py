"""A few rows of plain values → Arrow, the short way: a general conversion asks more of each column than they are worth.

Whatever is not plain, or does not fit, goes the long way, which casts what can be cast and says what is wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import pyarrow as pa

from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_ROWS_MAX = 16
_PLAIN: dict[TypeRoot, type] = {
    TypeRoot.BOOLEAN: bool,
    TypeRoot.TINYINT: int,
    TypeRoot.SMALLINT: int,
    TypeRoot.INTEGER: int,
    TypeRoot.BIGINT: int,
    TypeRoot.DOUBLE: float,
    TypeRoot.STRING: str,
    TypeRoot.BYTES: bytes,
}
_PLANS_MAX = 64


class _Plan(NamedTuple):
    """What the rows of a schema are made of; `columns` is empty where one of them is not plain."""

    schema: Schema
    arrow: pa.Schema
    columns: tuple[tuple[str, pa.DataType, frozenset[type]], ...]


_plans: OrderedDict[int, _Plan] = OrderedDict()


def few_rows(data: Any, schema: Schema) -> pa.RecordBatch | None:
    """One dict or a few, each with every column and nothing but plain values; None where the long way must be taken."""
    rows = [data] if type(data) is dict else data
    if type(rows) is not list or not 0 < len(rows) <= _ROWS_MAX:
        return None
    plan = _plan_of(schema)
    columns = plan.columns
    if not columns or not all(type(row) is dict and len(row) == len(columns) for row in rows):
        return None
    arrays = []
    try:
        for name, arrow, types in columns:
            values = [row[name] for row in rows]
            if not types.issuperset(map(type, values)):
                return None
            arrays.append(pa.array(values, arrow))
    except (KeyError, OverflowError, UnicodeError, pa.ArrowInvalid):
        return None
    return pa.RecordBatch.from_arrays(arrays, schema=plan.arrow)


def _plan_of(schema: Schema) -> _Plan:
    """Kept by the object, which the plan keeps alive: to compare schemas takes longer than to convert a row."""
    plan = _plans.get(id(schema))
    if plan is None:
        plan = _plans[id(schema)] = _new_plan(schema)
        while len(_plans) > _PLANS_MAX:
            _plans.popitem(last=False)
    return plan


def _new_plan(schema: Schema) -> _Plan:
    arrow = arrow_schema(schema)
    columns = [
        (column.name, field.type, frozenset((_PLAIN[column.type.root], *((type(None),) if field.nullable else ()))))
        for column, field in zip(schema.columns, arrow, strict=True)
        if column.type.root in _PLAIN
    ]
    return _Plan(schema, arrow, tuple(columns) if len(columns) == len(schema.columns) else ())
