"""SELECT on a stream: what is shown of the rows of a block, with what travels beside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import is_aggregate
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.block import Block, Place
from lakeward.language.plan.shape.engine import Planning
from lakeward.language.plan.shape.relation import TIME, EventTime, Relation
from lakeward.language.plan.shape.scope import Scope, resolve
from lakeward.language.plan.shape.shown import Shown, shown_columns
from lakeward.language.plan.shape.trees import all_of, is_repeatable, name_as, place_of, spark_call, text
from lakeward.language.plan.steps.aggregate import group_rows
from lakeward.language.plan.steps.union import distinct_rows


@dataclass(frozen=True)
class _Output:
    """The columns of the result, and which of them are what was there before."""

    shown: list[Shown]
    block: Block
    scope: Scope

    def names_of(self, place: Place) -> frozenset[str]:
        return frozenset(one.name for one in self.shown if self.place(one) == place)

    def place(self, one: Shown) -> Place | None:
        if not isinstance(one.tree, exp.Column):
            return None
        owner = self.scope.owner(one.tree)
        return None if owner is None or owner[2] else (owner[0].alias, owner[1])

    def key(self) -> tuple[frozenset[str], ...] | None:
        if self.block.key is None:
            return None
        parts = tuple(frozenset().union(*(self.names_of(place) for place in part)) for part in self.block.key)
        return parts if all(parts) else None

    def of_key(self) -> frozenset[str]:
        return frozenset(one.name for one in self.shown if self._is_of_key(one.tree))

    def _is_of_key(self, tree: exp.Expr) -> bool:
        if not is_repeatable(tree) or tree.find(exp.Query):
            return False
        owners = [self.scope.owner(node) for node in tree.find_all(exp.Column)]
        return all(owner is not None and (owner[0].alias, owner[1]) in self.block.of_key for owner in owners)

    def volatile(self) -> frozenset[str]:
        return frozenset(one.name for one in self.shown if not self.scope.is_sure(one.tree))

    def time(self) -> tuple[EventTime, exp.Expr] | None:
        for one in self.shown:
            place = self.place(one)
            time = self.block.times.get(place[0]) if place is not None else None
            twin = self.block.hidden_time()
            if time is not None and place is not None and time.column == place[1] and twin is not None:
                return replace(time, column=one.name), twin
        return None


def project_rows(select: exp.Select, block: Block, scope: Scope, planning: Planning) -> Relation:
    """The rows of a SELECT over its block."""
    shown = shown_columns(select, scope)
    _refuse_over(select)
    if select.args.get("group") is not None or any(_has_aggregate(one.tree) for one in shown):
        return group_rows(select, shown, block, scope, planning)
    if select.args.get("distinct") is not None and block.changes is Changes.UPSERT:
        planning.before(select, "DISTINCT", block.state)
    relation = _plain_rows(select, _Output(shown, block, scope))
    if select.args.get("distinct") is None:
        return relation
    if relation.has_changes:
        for one in shown:
            scope.require_sure(one.tree, "DISTINCT")
    return distinct_rows(relation, planning.engine, select)


def _plain_rows(select: exp.Select, output: _Output) -> Relation:
    block, scope = output.block, output.scope
    where = select.args.get("where")
    if where is not None and block.changes is Changes.CHANGELOG:
        scope.require_sure(where.this, "WHERE")
    conditions = [condition.copy() for condition in block.conditions]
    if where is not None:
        conditions.append(exp.Paren(this=resolve(where.this, scope, block.rename)))
    kept, change, time = all_of(conditions), block.change(), output.time()
    is_by_key = block.changes is Changes.UPSERT
    if is_by_key and kept is not None:
        assert change is not None
        change = spark_call("IF", kept, change, text("delete"))
    columns = [name_as(resolve(one.tree, scope, block.rename), one.name) for one in output.shown]
    hidden = [name_as(change, CHANGE_TYPE)] if change is not None else []
    hidden += [name_as(time[1], TIME)] if time is not None else []
    tree = block.put_into(exp.select(*columns, *hidden))
    for key in ("laterals", "hint"):
        if select.args.get(key):
            tree.set(key, select.args[key])
    if kept is not None and not is_by_key:
        tree = tree.where(kept)
    return Relation(
        tree=tree,
        columns=tuple(one.name for one in output.shown),
        is_stream=block.is_stream,
        changes=block.changes,
        key=output.key(),
        of_key=output.of_key(),
        volatile=output.volatile(),
        time=time[0] if time is not None else None,
        state=block.state,
        mode="update" if "aggregate" in block.state else "append",
        is_shuffled=block.is_shuffled,
    )


def _has_aggregate(tree: exp.Expr) -> bool:
    return any(
        is_aggregate(str(node.this)) and not isinstance(node.parent, exp.Window)
        for node in tree.find_all(exp.Anonymous)
    )


def _refuse_over(select: exp.Select) -> None:
    for node in select.find_all(exp.Window):
        if node.find_ancestor(exp.Query) is select:
            raise ScriptError(
                place_of(node),
                "OVER (…) does not run on a stream: a later row changes what was told of earlier ones. Use a window "
                "(TUMBLE, HOP, SESSION) with GROUP BY, write into a primary key table to keep the newest row of each "
                "key, or read bounded rows (SET 'execution.runtime-mode' = 'batch').",
            )
