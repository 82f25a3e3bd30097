"""What types the parameters of a statement have, by where they stand: DuckDB binds a text there, and says as what.

And what types its columns have, whatever the values will be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

_MARK = "lakeward parameter "
_UNKNOWN = "VARCHAR"
#: Parameters that are looked at one by one, each for the price of a plan.
_ALONE_MAX = 32


class Template(Protocol):
    """A statement with places for values."""

    @property
    def parameters(self) -> int:
        """How many there are."""

    @property
    def counts(self) -> frozenset[int]:
        """Those that say how many rows are wanted, from 1 on; DuckDB would take no text there."""

    def with_values(self, literals: Sequence[str]) -> str:
        """Its text with a literal in each place."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A column for each parameter, a text where its type is open; and what stands for a value that is not there yet.

    DuckDB knows of `nulls` that they are none, and then makes no type of what it makes of them: CAST(NULL AS VARCHAR)
    || 'x' is no text to it. Of `unknowns` it knows the type alone.
    """

    schema: pa.Schema
    nulls: list[str]
    unknowns: list[str]

    def columns_of(self, duck: Any, template: Template) -> pa.Schema:
        """The columns of the statement."""
        import duckdb

        try:
            return _columns(duck, template.with_values(self.unknowns))
        except (duckdb.BinderException, duckdb.NotImplementedException):  # of functions that want what is known
            return _columns(duck, template.with_values(self.nulls))


def find_parameters(duck: Any, template: Template, known: Sequence[str | None]) -> Parameters:
    """The parameters of a statement; `known` are types that somebody gave, as DuckDB calls them.

    `duck` has the tables that the statement names, as anything that can be bound.
    """
    given = dict(enumerate(known, 1))
    found = {number: given.get(number) or "BIGINT" for number in template.counts}
    found |= {number: kind for number, kind in given.items() if kind is not None}
    every = range(1, template.parameters + 1)
    left = [number for number in every if number not in found]
    bound = _bound(duck, template, found, left)
    if bound is None and 1 < len(left) <= _ALONE_MAX:  # one that can be anything hides what the others are
        each = [_bound(duck, template, found, [number]) for number in left]
        found = {number: kind for one in each for number, kind in (one or {}).items()} | found
    found = (bound or {}) | found
    # What is open where all are understood is a text, which its values will be.
    none = "NULL" if bound is None else f"CAST(NULL AS {_UNKNOWN})"
    if not every:
        return Parameters(pa.schema([]), [], [])
    nulls = [_null(found[number]) if number in found else none for number in every]
    unknowns = [f"(CASE WHEN random() < 2 THEN {null} END)" for null in nulls]
    columns = (f"CAST(NULL AS {found.get(number, _UNKNOWN)}) AS parameter_{number}" for number in every)
    return Parameters(_columns(duck, f"SELECT {', '.join(columns)}"), nulls, unknowns)


def _columns(duck: Any, sql: str) -> pa.Schema:
    return duck.execute(sql).to_arrow_reader(1).schema


def _bound(duck: Any, template: Template, known: dict[int, str], asked: Sequence[int]) -> dict[int, str] | None:
    """The types of these parameters, as far as DuckDB gives them one; None where it does not understand the whole."""
    if not asked:
        return {}
    marks = [
        "1" if number in template.counts else f"'{_MARK}{number}'" if number in asked else _null(known.get(number))
        for number in range(1, template.parameters + 1)
    ]
    sql = template.with_values(marks)
    told = json.loads(duck.execute("SELECT json_serialize_plan(?::VARCHAR)", [sql]).fetchone()[0])
    return None if told["error"] else dict(_casts(told["plans"], None))


def _null(kind: str | None) -> str:
    return "NULL" if kind is None else f"CAST(NULL AS {kind})"


def _casts(node: Any, kind: str | None) -> Iterator[tuple[int, str]]:
    """The type that each mark is cast to, as DuckDB writes it."""
    if isinstance(node, list):
        for one in node:
            yield from _casts(one, None)
    elif isinstance(node, dict):
        value = node.get("value")
        text = value.get("value") if isinstance(value, dict) else None
        if isinstance(text, str) and text.startswith(_MARK) and kind is not None:
            yield int(text.removeprefix(_MARK)), kind
        into = _type_name(node["return_type"]) if node.get("expression_class") == "BOUND_CAST" else None
        for one in node.values():
            yield from _casts(one, into)


def _type_name(kind: dict[str, Any]) -> str | None:
    info = kind.get("type_info") or {}
    name = str(kind["id"])
    if name == "DECIMAL":
        return f"DECIMAL({info['width']}, {info['scale']})"
    if name == "LIST":
        inner = _type_name(info["child_type"])
        return None if inner is None else f"{inner}[]"
    return None if name in {"STRUCT", "MAP", "ENUM", "ARRAY", "UNION"} else _SPELLED.get(name, name)


_SPELLED = {"TIMESTAMP_WITH_TIME_ZONE": "TIMESTAMPTZ", "TIME_WITH_TIME_ZONE": "TIMETZ"}
