"""Hypothesis strategies: columns of every type, with values as wide as the type."""

from __future__ import annotations

import datetime as dt
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_schema

LEAVES = [
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BYTES", "BINARY(4)", "CHAR(3)"),
    *("DECIMAL(10, 2)", "DECIMAL(38, 18)", "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)"),
    *("TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(9)"),
]
NESTED = [
    *(f"ARRAY<{leaf}>" for leaf in LEAVES),
    *("MAP<STRING, INT>", "MAP<INT, TIMESTAMP(9)>", "MAP<BOOLEAN, BYTES>", "MAP<DATE, DECIMAL(10, 2)>"),
    *("ROW<a INT, b ARRAY<STRING>>", "ROW<t TIMESTAMP_LTZ(9), d DECIMAL(38, 18), r ROW<x DATE>>"),
]
TYPES = LEAVES + NESTED

_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INTEGER: 32, TypeRoot.BIGINT: 64}
_TICKS = {0: 1, 3: 10**3, 6: 10**6, 9: 10**9}
#: Arrow's nanoseconds reach from 1678 to 2261; the others are kept to years with four digits.
_SECONDS = {9: (-9_000_000_000, 9_000_000_000)}
_EXACT = Context(prec=60)
_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


def columns(types: list[str]) -> st.SearchStrategy[tuple[Schema, pa.Table]]:
    """A table of one column `c` beside a number `n`, with its schema."""
    return st.sampled_from(types).flatmap(_column)


def _column(text: str) -> st.SearchStrategy[tuple[Schema, pa.Table]]:
    type_ = parse_type(text)
    schema = Schema.of([("n", parse_type("INT")), ("c", type_)])
    return st.lists(st.none() | _values(type_), min_size=1, max_size=5).map(lambda v: (schema, _table(schema, v)))


def _table(schema: Schema, values: list[Any]) -> pa.Table:
    from lakeward.records.arrow.cell_text import in_whole_numbers

    target = arrow_schema(schema)
    column = pa.array(values, type=in_whole_numbers(target.field("c").type)).cast(target.field("c").type)
    return pa.Table.from_arrays([pa.array(range(len(values)), pa.int32()), column], schema=target)


def _values(type_: DataType) -> st.SearchStrategy[Any]:
    """Values as in_whole_numbers has them: times are counted."""
    match type_.root:
        case TypeRoot.ARRAY:
            return st.lists(st.none() | _values(type_.element), max_size=3)
        case TypeRoot.MAP:
            return st.dictionaries(_values(type_.key), st.none() | _values(type_.value), max_size=3).map(
                lambda d: list(d.items())
            )
        case TypeRoot.ROW:
            return st.fixed_dictionaries({f.name: st.none() | _values(f.type) for f in type_.fields})
        case _:
            return _leaf(type_)


def _leaf(type_: DataType) -> st.SearchStrategy[Any]:
    root, precision = type_.root, type_.precision or 0
    if root in _BITS:
        return st.integers(-(2 ** (_BITS[root] - 1)), 2 ** (_BITS[root] - 1) - 1)
    if root is TypeRoot.DECIMAL:
        limit = 10**precision - 1
        return st.integers(-limit, limit).map(lambda i: Decimal(i).scaleb(-(type_.scale or 0), _EXACT))
    if root is TypeRoot.DATE:
        return st.dates().map(lambda d: (d - dt.date(1970, 1, 1)).days)
    if root is TypeRoot.TIME:
        return st.integers(0, 86_400 * _TICKS[precision] - 1)
    if root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        low, high = _SECONDS.get(precision, (-62_000_000_000, 253_000_000_000))
        return st.integers(low * _TICKS[precision], high * _TICKS[precision])
    return {
        TypeRoot.BOOLEAN: st.booleans(),
        TypeRoot.FLOAT: st.floats(width=32, allow_nan=False),
        TypeRoot.DOUBLE: st.floats(allow_nan=False),
        TypeRoot.STRING: _texts,
        TypeRoot.CHAR: _texts,
        TypeRoot.BYTES: st.binary(max_size=8),
        TypeRoot.BINARY: st.binary(min_size=type_.length or 0, max_size=type_.length or 0),
    }[root]
