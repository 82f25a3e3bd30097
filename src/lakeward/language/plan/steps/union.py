"""UNION and DISTINCT on streams."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.engine import Engine
from lakeward.language.plan.shape.relation import TIME, EventTime, Relation
from lakeward.language.plan.shape.trees import (
    change_type,
    column,
    is_added,
    name_as,
    place_of,
    put_under,
    spark_call,
    text,
)


def unite(sides: list[Relation], engine: Engine, *, is_distinct: bool, node: exp.Expr) -> Relation:
    """The rows of all sides; if one has changes, the rows of the others are inserts."""
    first = sides[0]
    if len({len(side.columns) for side in sides}) > 1:
        counts = " and ".join(str(len(side.columns)) for side in sides)
        raise ScriptError(place_of(node), f"the sides of UNION have {counts} columns; they need the same number.")
    has_changes = any(side.has_changes for side in sides)
    times = {(side.time.is_ntz, side.columns.index(side.time.column)) if side.time else None for side in sides}
    time = first.time if len(times) == 1 else None
    trees = [_side(side, first.columns, has_changes=has_changes, time=time) for side in sides]
    tree: exp.Expr = trees[0]
    for one in trees[1:]:
        tree = exp.Union(this=tree, expression=one, distinct=False)
    relation = Relation(
        tree=tree,
        columns=first.columns,
        is_stream=True,
        changes=Changes.CHANGELOG if has_changes else Changes.APPEND,
        time=time,
        volatile=frozenset(
            name
            for side in sides
            for name, own in zip(first.columns, side.columns, strict=True)
            if own in side.volatile
        ),
        state=tuple(one for side in sides for one in side.state),
        is_shuffled=True,
    )
    return distinct_rows(relation, engine, node) if is_distinct else relation


def _side(side: Relation, names: tuple[str, ...], *, has_changes: bool, time: EventTime | None) -> exp.Select:
    shown = [name_as(column(old), new) for old, new in zip(side.columns, names, strict=True)]
    if has_changes:
        change = change_type() if side.has_changes else text("insert")
        shown.append(name_as(change, CHANGE_TYPE))
    if time is not None:
        shown.append(name_as(column(TIME), TIME))
    return exp.select(*shown).from_(put_under(side.tree, "side"))


def distinct_rows(relation: Relation, engine: Engine, node: exp.Expr) -> Relation:
    """Every row once: the first one where rows are only added, else as long as one of its kind is left."""
    key = tuple(frozenset([name]) for name in relation.columns)
    if not relation.has_changes:
        assert isinstance(relation.tree, exp.Query)
        shown = exp.select(*(column(name) for name in relation.columns)).from_(put_under(relation.tree, "rows"))
        state = (*relation.state, "distinct")
        return replace(relation, tree=engine.distinct(shown), key=key, state=state, time=None, is_shuffled=True)
    if relation.changes is Changes.UPSERT:
        raise ScriptError(
            place_of(node), "DISTINCT over rows by key: INSERT the inner query INTO a primary key table, and read that."
        )
    if relation.volatile:
        raise ScriptError(
            place_of(node),
            f"DISTINCT over rows that change: {', '.join(sorted(relation.volatile))} has another value each time, so a "
            "row that is taken back is not found again. Leave it out.",
        )
    columns = [column(name) for name in relation.columns]
    one = exp.Cast(this=exp.Literal.number(1), to=exp.DataType.build("BIGINT"))
    weight = spark_call("SUM", spark_call("IF", is_added(), one, exp.Neg(this=one.copy())))
    change = spark_call(
        "IF", exp.GT(this=weight, expression=exp.Literal.number(0)), text("update_after"), text("delete")
    )
    tree = exp.select(*columns, name_as(change, CHANGE_TYPE)).from_(put_under(relation.tree, "rows"))
    tree.set("group", exp.Group(expressions=[one.copy() for one in columns]))
    return replace(
        relation,
        tree=tree,
        changes=Changes.UPSERT,
        key=key,
        of_key=frozenset(relation.columns),
        time=None,
        state=(*relation.state, "aggregate"),
        mode="update",
        is_shuffled=True,
    )
