"""Cte: a query of WITH, and what the names in it stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.trees import place_of


@dataclass(frozen=True)
class Cte:
    """A query under a name; `tables` are those of WITH that came before it, `columns` the names it gives."""

    query: exp.Query
    columns: tuple[str, ...]
    tables: Mapping[str, Cte]


Ctes = Mapping[str, Cte]


def with_ctes(query: exp.Expr, known: Ctes) -> Ctes:
    """What names stand for in a query: those of its WITH hide what was known, one after the other."""
    found = query.args.get("with_")
    if found is None:
        return known
    if found.args.get("recursive"):
        raise ScriptError(place_of(found), "WITH RECURSIVE does not run on a stream; read bounded rows instead.")
    tables = dict(known)
    for one in found.expressions:
        tables[one.alias.lower()] = _cte(one, tables)
    return tables


def all_ctes(query: exp.Expr, known: Ctes) -> Ctes:
    """The same with those of inner queries."""
    tables = dict(known)
    for one in query.find_all(exp.CTE):
        tables[one.alias.lower()] = _cte(one, tables)
    return tables


def cte_of(node: exp.Table, tables: Ctes) -> Cte | None:
    """The query that a name stands for."""
    return None if node.db else tables.get(node.name.lower())


def is_cte(node: exp.Table) -> bool:
    """Whether a name is that of a WITH around it; in its own query a name is still what it hides."""
    above: exp.Expr | None = node
    path: list[exp.Expr] = []
    while above is not None and not node.db:
        path.append(above)
        with_ = above.args.get("with_")
        for one in with_.expressions if with_ is not None else ():
            if any(one is step for step in path):
                break
            if one.alias.lower() == node.name.lower():
                return True
        above = above.parent
    return False


def _cte(one: exp.CTE, tables: Ctes) -> Cte:
    return Cte(one.this, tuple(name.name for name in one.args["alias"].columns), dict(tables))
