"""Filters that Spark pushes to a Python data source → filters of a read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import datasource as spark

from lakeward.query.request import filters as own

_COMPARISONS: dict[type[Any], str] = {
    spark.EqualTo: "=",
    spark.EqualNullSafe: "<=>",
    spark.GreaterThan: ">",
    spark.GreaterThanOrEqual: ">=",
    spark.LessThan: "<",
    spark.LessThanOrEqual: "<=",
}
_TEXTS: dict[type[Any], type[own.StartsWith | own.EndsWith | own.Contains]] = {
    spark.StringStartsWith: own.StartsWith,
    spark.StringEndsWith: own.EndsWith,
    spark.StringContains: own.Contains,
}


def filters_of(pushed: Iterable[spark.Filter]) -> tuple[own.Filter, ...]:
    """Those that a read understands; Spark evaluates all of them again."""
    translated = (_filter(one) for one in pushed)
    return tuple(one for one in translated if one is not None)


def _filter(pushed: Any) -> own.Filter | None:
    if isinstance(pushed, spark.Not):
        child = _filter(pushed.child)
        return None if child is None else own.Not(child)
    if len(pushed.attribute) != 1:  # a field inside a column
        return None
    (column,) = pushed.attribute
    kind = type(pushed)
    if kind in _COMPARISONS:
        return own.Compare(_COMPARISONS[kind], column, pushed.value)
    if kind in _TEXTS:
        return _TEXTS[kind](column, pushed.value)
    if kind is spark.In:
        return own.In(column, tuple(pushed.value))
    if kind is spark.IsNull:
        return own.IsNull(column)
    return own.NotNull(column) if kind is spark.IsNotNull else None
