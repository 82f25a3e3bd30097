"""Projection: a list of columns and a condition, as SELECT and WHERE have them, in Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lakeward.language.functions import is_aggregate, spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import Select

_HEAD, _TABLE = "SELECT ", " FROM t"
_CONDITION = "SELECT 1 FROM t WHERE "


@dataclass(frozen=True, slots=True)
class ProjectedColumn:
    """One column; `name` is None for `*`, `text` is Spark SQL, and `plain` the column that it merely names."""

    name: str | None
    text: str
    plain: str | None = None


def read_projection(text: str) -> tuple[ProjectedColumn, ...]:
    """The columns of a list; a ScriptError has the place in the text."""
    query = _query(f"{_HEAD}{text}{_TABLE}", len(_HEAD), len(text))
    columns = []
    for one in query.expressions:
        if isinstance(one, exp.Star):
            columns.append(ProjectedColumn(None, "*"))
            continue
        inner = one.unalias()
        if not one.alias_or_name or (not isinstance(inner, exp.Column) and not one.alias):
            raise ScriptError(Place(1, 1), f"{spark_text(to_spark(inner))} has no name; write … AS name.")
        _refuse_groups(one)
        plain = inner.name if isinstance(inner, exp.Column) else None
        columns.append(ProjectedColumn(one.alias_or_name, spark_text(to_spark(inner)), plain))
    return tuple(columns)


def read_condition(text: str) -> str:
    """A condition in Spark SQL; a ScriptError has the place in the text."""
    query = _query(f"{_CONDITION}{text}", len(_CONDITION), len(text))
    where = query.args.get("where")
    if where is None or any(query.args.get(key) for key in ("group", "order", "limit", "having")):
        raise ScriptError(Place(1, 1), "expected a condition, and no more.")
    _refuse_groups(where.this)
    return spark_text(to_spark(where.this))


def _refuse_groups(tree: exp.Expr) -> None:
    for node in tree.walk():
        if isinstance(node, exp.Query | exp.Window):
            raise ScriptError(Place(1, 1), "each row is looked at by itself here: no queries inside, and no OVER.")
        if isinstance(node, exp.Anonymous) and is_aggregate(node.name):
            raise ScriptError(Place(1, 1), f"each row is looked at by itself here, and {node.name} needs several.")


def _query(text: str, begin: int, length: int) -> exp.Select:
    try:
        statements = list(parse_script(text))
    except ScriptError as wrong:
        place = wrong.place
        if place.line == 1:
            place = Place(1, max(1, place.column - begin))
        if place.line == 1 and place.column > length + 1:
            place = Place(1, length + 1)
        raise ScriptError(place, wrong.sentence) from None
    only = statements[0] if len(statements) == 1 else None
    if not isinstance(only, Select) or not isinstance(only.query, exp.Select):
        raise ScriptError(Place(1, 1), "expected one list of columns, or one condition.")
    return only.query
