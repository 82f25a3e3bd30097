"""Filters on whole batches: can any row of it match, by its statistics? Any doubt keeps the batch.

The rules are those of Apache Fluss, so that both skip the same batches.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.records.batch.statistics import ColumnStatistics, parse_statistics


class Function(enum.IntEnum):
    """What a leaf asks; the number is the wire's."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS_THAN = 2
    LESS_OR_EQUAL = 3
    GREATER_THAN = 4
    GREATER_OR_EQUAL = 5
    IS_NULL = 6
    IS_NOT_NULL = 7
    STARTS_WITH = 8
    CONTAINS = 9
    END_WITH = 10
    IN = 11
    NOT_IN = 12


class Joint(enum.IntEnum):
    """How children are joined; the number is the wire's."""

    AND = 0
    OR = 1


@dataclass(frozen=True, slots=True)
class Leaf:
    """One question about one column, found by its id. Literals are values of `model.values`."""

    function: Function
    column_id: int
    literals: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Compound:
    """Several predicates joined."""

    joint: Joint
    children: tuple[Predicate, ...]


Predicate = Leaf | Compound


def batch_may_match(predicate: Predicate, block: bytes | memoryview, schema: Schema, record_count: int) -> bool:
    """Whether a batch must be kept: `block` is its statistics, `schema` the one it was written with."""
    try:
        columns = parse_statistics(block, [c.type for c in schema.columns])
    except LakewardError:
        return True  # damaged statistics say nothing
    if columns is None:
        return True
    by_id = {schema.columns[c.position].id: c for c in columns}
    return may_match(predicate, by_id, record_count)


def may_match(predicate: Predicate, by_column_id: Mapping[int, ColumnStatistics], record_count: int) -> bool:
    """Whether any of `record_count` rows with these statistics could match."""
    if isinstance(predicate, Compound):
        if not predicate.children:
            return True
        answers = (may_match(child, by_column_id, record_count) for child in predicate.children)
        return all(answers) if predicate.joint is Joint.AND else any(answers)
    column = by_column_id.get(predicate.column_id)
    if column is None or not 0 <= column.null_count <= record_count:
        return True
    try:
        return _leaf_may_match(predicate, column, record_count)
    except (TypeError, IndexError, ArithmeticError, AttributeError):
        return True  # a literal of another type, a missing literal, a NaN among decimals


def _leaf_may_match(leaf: Leaf, column: ColumnStatistics, record_count: int) -> bool:
    nulls, low, high = column.null_count, column.minimum, column.maximum
    if nulls != record_count and (low is None or high is None):
        return True
    if leaf.function is Function.IS_NULL:
        return nulls > 0
    if leaf.function is Function.IS_NOT_NULL:
        return nulls < record_count
    if nulls == record_count:
        return False
    if any(_is_doubtful(v) for v in (low, high, *leaf.literals)):
        return True
    if leaf.function is Function.IN:
        return any(low <= v <= high for v in leaf.literals if v is not None)
    if leaf.function is Function.NOT_IN:
        return not any(v is None or low == v == high for v in leaf.literals)
    literal = leaf.literals[0]
    return literal is not None and _COMPARISONS[leaf.function](low, high, literal)


def _is_doubtful(value: Any) -> bool:
    """NaN has no order, and -0.0 is below 0.0 for Java but not for us."""
    return isinstance(value, float) and (math.isnan(value) or value == 0)


_COMPARISONS: dict[Function, Callable[[Any, Any, Any], bool]] = {
    Function.EQUAL: lambda low, high, v: low <= v <= high,
    Function.NOT_EQUAL: lambda low, high, v: not low == v == high,
    Function.LESS_THAN: lambda low, _, v: low < v,
    Function.LESS_OR_EQUAL: lambda low, _, v: low <= v,
    Function.GREATER_THAN: lambda _, high, v: high > v,
    Function.GREATER_OR_EQUAL: lambda _, high, v: high >= v,
    Function.STARTS_WITH: lambda low, high, v: (low.startswith(v) or low <= v) and (high.startswith(v) or high >= v),
    Function.CONTAINS: lambda *_: True,
    Function.END_WITH: lambda *_: True,
}
