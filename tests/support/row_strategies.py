"""Hypothesis strategies for column types and their values, as wide as the formats."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lakeward.model import data_types as t
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import Timestamp, decimal_of

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
"""For tests whose inputs are large: a busy machine is no failure."""

precisions = st.integers(0, 9)
decimals = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: t.DECIMAL(p, s)))

scalar_types: st.SearchStrategy[DataType] = st.one_of(
    st.sampled_from([t.BOOLEAN(), t.TINYINT(), t.SMALLINT(), t.INT(), t.BIGINT(), t.FLOAT(), t.DOUBLE()]),
    st.sampled_from([t.STRING(), t.BYTES(), t.DATE()]),
    st.integers(1, 12).map(t.CHAR),
    st.integers(1, 12).map(t.BINARY),
    decimals,
    precisions.map(t.TIME),
    precisions.map(t.TIMESTAMP),
    precisions.map(t.TIMESTAMP_LTZ),
)


def _nest(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    rows = st.lists(inner, min_size=1, max_size=3).map(lambda ts: t.ROW([(f"f{i}", x) for i, x in enumerate(ts)]))
    return st.one_of(inner.map(t.ARRAY), st.tuples(inner, inner).map(lambda kv: t.MAP(*kv)), rows)


types: st.SearchStrategy[DataType] = st.recursive(scalar_types, _nest, max_leaves=4)

_INT_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.DATE: 32, TypeRoot.BIGINT: 64}
_texts = st.text(st.characters(codec="utf-8"), max_size=20)


def values(type_: DataType, *, nullable: bool = True) -> st.SearchStrategy[Any]:
    """Any value of a type, in canonical form."""
    present = _present(type_)
    return st.none() | present if nullable else present


def _present(type_: DataType) -> st.SearchStrategy[Any]:
    root = type_.root
    if root in _INT_BITS:
        half = 2 ** (_INT_BITS[root] - 1)
        return st.integers(-half, half - 1) | st.integers(-300, 300).filter(lambda v: -half <= v < half)
    match root:
        case TypeRoot.BOOLEAN:
            return st.booleans()
        case TypeRoot.FLOAT:
            return st.floats(width=32, allow_nan=False)
        case TypeRoot.DOUBLE:
            return st.floats(allow_nan=False)
        case TypeRoot.CHAR:
            length = type_.length
            return st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=length)
        case TypeRoot.STRING:
            return _texts
        case TypeRoot.BINARY:
            return st.binary(min_size=type_.length, max_size=type_.length)
        case TypeRoot.BYTES:
            return st.binary(max_size=20)
        case TypeRoot.DECIMAL:
            p, s = type_.precision, type_.scale
            return st.integers(-(10**p) + 1, 10**p - 1).map(lambda u: decimal_of(u, p, s))
        case TypeRoot.TIME:
            return (
                st.integers(0, 86_399).map(lambda s: s * 1000) if type_.precision == 0 else st.integers(0, 86_399_999)
            )
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamps(type_.precision)
        case TypeRoot.ARRAY:
            return st.lists(values(type_.element), max_size=5).map(tuple)
        case TypeRoot.MAP:
            pair = st.tuples(values(type_.key, nullable=False), values(type_.value))
            return st.lists(pair, max_size=3).map(tuple)
        case _:
            return st.tuples(*(values(f.type) for f in type_.fields))


def _timestamps(precision: int) -> st.SearchStrategy[Timestamp]:
    """What a column of this precision can hold in Arrow as well as in rows: 64 bits of its unit."""
    if precision == 0:
        return st.integers(-(2**40), 2**40).map(lambda s: Timestamp(s * 1000))
    if precision <= 3:
        return st.integers(-(2**62), 2**62).map(Timestamp)
    step = 1000 if precision <= 6 else 1
    return st.integers(-(2**63) + 1, 2**63 - 1).map(lambda units: Timestamp.of_nanos(units * step))


@st.composite
def rows(draw: st.DrawFn, of: st.SearchStrategy[DataType] = types, max_size: int = 9) -> tuple[Any, Any]:
    """Column types and one row of them."""
    columns = tuple(draw(st.lists(of, min_size=1, max_size=max_size)))
    return columns, tuple(draw(values(c)) for c in columns)
