"""GROUP BY on a stream: by weights where rows are taken back, once where a window is final."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import is_aggregate
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.block import Block
from lakeward.language.plan.shape.engine import Planning
from lakeward.language.plan.shape.relation import TIME, Relation
from lakeward.language.plan.shape.scope import Scope, resolve
from lakeward.language.plan.shape.shown import Shown
from lakeward.language.plan.shape.trees import all_of, name_as, place_of, spark_call, text
from lakeward.language.plan.shape.window import SESSION, Window, group_window, window_of_call, window_part
from lakeward.language.plan.steps.weights import add_up, weigh


class _Grouping:
    """One GROUP BY: its keys, its window, and how its expressions are told to Spark."""

    def __init__(self, select: exp.Select, shown: list[Shown], block: Block, scope: Scope) -> None:
        self.block, self.scope, self.shown = block, scope, shown
        self.names = {one.name.lower(): one.tree for one in shown}
        self.window: Window | None = None
        self.keys: list[exp.Expr] = []
        group = select.args.get("group")
        for key in group.expressions if group is not None else ():
            self._add_key(self._meant(key))
        self._select = select

    def _meant(self, key: exp.Expr) -> exp.Expr:
        """A key of GROUP BY: a number is the column at that place, a name may be that of a shown column."""
        if isinstance(key, exp.Literal) and not key.is_string:
            number = int(key.name)
            if not 1 <= number <= len(self.shown):
                raise ScriptError(place_of(key), f"GROUP BY {number}: the SELECT has {len(self.shown)} columns.")
            return self.shown[number - 1].tree
        if isinstance(key, exp.Column) and len(key.parts) == 1 and self.scope.owner(key) is None:
            return self.names.get(key.name.lower(), key)
        return key

    def _add_key(self, key: exp.Expr) -> None:
        kind = group_window(key)
        part = window_part(key)
        if kind is not None or part is not None:
            assert isinstance(key, exp.Anonymous)
            self._set_window(self._window(key, kind or part[0]), key)  # type: ignore[index]
            return
        owner = self.scope.owner(key) if isinstance(key, exp.Column) else None
        if owner is not None and owner[0].window is not None and owner[1] not in owner[0].relation.columns:
            window = self.block.window_of(owner[0])
            assert window is not None
            self._set_window(window, key)
            return
        self.keys.append(self.plain(key))

    def _set_window(self, window: Window, key: exp.Expr) -> None:
        if self.window is not None and not self.window.same_as(window):
            raise ScriptError(place_of(key), "GROUP BY has two windows; one query can have one.")
        self.window = window

    def _window(self, node: exp.Anonymous, kind: str) -> Window:
        when = node.expressions[0] if node.expressions else None
        owner = self.scope.owner(when) if isinstance(when, exp.Column) else None
        if owner is None:
            window = window_of_call(node, kind, None, None)
            return replace(window, time=resolve(window.time, self.scope, self.block.rename))
        time, alias = self.block.time_of(owner[0].alias)
        window = window_of_call(node, kind, time, alias)
        if isinstance(window.time, exp.Column) and window.time.name == TIME:
            return window
        return replace(window, time=self.block.rename(owner[0], owner[1]))

    def plain(self, tree: exp.Expr) -> exp.Expr:
        """An expression with its columns found and its windows told as Spark has them."""

        def change(node: exp.Expr) -> exp.Expr:
            part = window_part(node)
            if part is None:
                return node
            assert isinstance(node, exp.Anonymous)
            window = self._window(node, part[0])
            if self.window is None or not self.window.same_as(window):
                raise ScriptError(
                    place_of(node), f"{node.this}(…): GROUP BY has no {part[0]} of the same time and intervals."
                )
            return window.field(part[1])

        return resolve(tree.copy().transform(change, copy=False), self.scope, self.block.rename)

    def tell(self, tree: exp.Expr) -> exp.Expr:
        """An expression of SELECT or HAVING, its aggregates made right for the rows of the block."""

        def change(node: exp.Expr) -> exp.Expr:
            is_call = isinstance(node, exp.Anonymous) and is_aggregate(str(node.this))
            is_filter = isinstance(node, exp.Filter)
            if not (is_call or is_filter):
                return node
            if not self.block.changing:
                return add_up(node)
            return weigh(node, self.block.weight())

        return self.plain(tree).transform(change, copy=False)

    @property
    def is_windowed(self) -> bool:
        """Whether the watermark says when a group is complete."""
        time = self.window.time if self.window is not None else None
        return isinstance(time, exp.Column) and time.name == TIME

    def group_trees(self) -> list[exp.Expr]:
        """What Spark groups by."""
        return [*(self.window.spark() for _ in range(self.window is not None) if self.window), *self.keys]

    def key(self, columns: list[tuple[str, exp.Expr]]) -> tuple[frozenset[str], ...] | None:
        """The names under which each key is shown; None when one is not."""
        wanted = [[key] for key in self.keys]
        if self.window is not None:
            wanted.append([self.window.field(name) for name in ("window_start", "window_end", "window_time")])
        parts = tuple(frozenset(name for name, tree in columns if tree in some) for some in wanted)
        return parts if all(parts) else None


def group_rows(select: exp.Select, shown: list[Shown], block: Block, scope: Scope, planning: Planning) -> Relation:
    """The rows of a SELECT with GROUP BY or aggregates."""
    if block.changes is Changes.UPSERT:
        planning.before(select, "GROUP BY", block.state)
    _refuse_forms(select)
    if block.changing:
        _require_sure(select, shown, scope)
    grouping = _Grouping(select, shown, block, scope)
    is_final = _is_final(grouping, select, planning)
    if "window" in block.state and not is_final:
        raise ScriptError(
            place_of(select),
            "GROUP BY over windows that are told when they are complete does not run in one query on Spark. INSERT the "
            "windows INTO a table and read that table here.",
        )
    columns = [(one.name, grouping.tell(one.tree)) for one in shown]
    having = select.args.get("having")
    conditions: list[exp.Expr] = []
    if block.changing and grouping.group_trees():
        total = spark_call("SUM", block.weight())
        conditions.append(exp.NEQ(this=total, expression=exp.Literal.number(0)))
    if having is not None:
        conditions.append(exp.Paren(this=grouping.tell(_with_aliases(having.this, grouping))))
    kept = all_of(conditions)
    tree = exp.select(*(name_as(value, name) for name, value in columns))
    if not is_final:
        change = text("update_after") if kept is None else spark_call("IF", kept, text("update_after"), text("delete"))
        tree = tree.select(name_as(change, CHANGE_TYPE))
    tree = block.put_into(tree)
    where = select.args.get("where")
    filters = [condition.copy() for condition in block.conditions]
    filters += [exp.Paren(this=resolve(where.this, scope, block.rename))] if where is not None else []
    if (kept_rows := all_of(filters)) is not None:
        tree = tree.where(kept_rows)
    keys = grouping.group_trees()
    if keys:
        tree.set("group", exp.Group(expressions=keys))
    if is_final and kept is not None:
        tree.set("having", exp.Having(this=kept))
    plain = {one.name for one in shown if not _aggregates(one.tree)}
    relation = Relation(
        tree=tree,
        columns=tuple(name for name, _ in columns),
        is_stream=True,
        changes=Changes.APPEND if is_final else Changes.UPSERT,
        key=grouping.key(columns),
        of_key=frozenset(plain),
        state=(*block.state, "window" if is_final else "aggregate"),
        mode="append" if is_final else "update",
        is_shuffled=True,
    )
    if select.args.get("distinct") is not None and relation.key is None:
        raise ScriptError(place_of(select), "SELECT DISTINCT with GROUP BY: show the columns of GROUP BY instead.")
    return relation


def _require_sure(select: exp.Select, shown: list[Shown], scope: Scope) -> None:
    """What is counted, and under which key, is the same when a row is taken back."""
    where, group, having = (select.args.get(key) for key in ("where", "group", "having"))
    scope.require_sure(where and where.this, "WHERE")
    for key in group.expressions if group is not None else ():
        scope.require_sure(key, "GROUP BY")
    names = {one.name.lower(): one.tree for one in shown}
    for key in group.expressions if group is not None else ():
        at = int(key.name) - 1 if isinstance(key, exp.Literal) and not key.is_string else None
        meant = shown[at].tree if at is not None and at < len(shown) else names.get(key.name.lower())
        if meant is not None and not _aggregates(meant):
            scope.require_sure(meant, "GROUP BY")
    for tree in [*(one.tree for one in shown), *([having.this] if having is not None else [])]:
        for call in _aggregates(tree):
            scope.require_sure(call.parent if isinstance(call.parent, exp.Filter) else call, "an aggregate")


def _aggregates(tree: exp.Expr) -> list[exp.Expr]:
    return [node for node in tree.find_all(exp.Anonymous) if is_aggregate(str(node.this))]


def _with_aliases(tree: exp.Expr, grouping: _Grouping) -> exp.Expr:
    """HAVING may speak of a shown column by its name."""

    def change(node: exp.Expr) -> exp.Expr:
        is_name = isinstance(node, exp.Column) and len(node.parts) == 1 and grouping.scope.owner(node) is None
        if not is_name or node.name.lower() not in grouping.names:
            return node
        return exp.Paren(this=grouping.names[node.name.lower()].copy())

    return tree.copy().transform(change, copy=False)


def _is_final(grouping: _Grouping, select: exp.Select, planning: Planning) -> bool:
    window = grouping.window
    if window is not None and window.kind == SESSION:
        if grouping.block.changing:
            raise ScriptError(
                place_of(select),
                "a SESSION window over a table whose rows change: a row that is taken back may have held two sessions "
                "together, and Spark cannot part them. Use TUMBLE or HOP, or write the events into a table without a "
                "PRIMARY KEY and read that.",
            )
        if not grouping.is_windowed:
            raise ScriptError(
                place_of(select),
                "a SESSION window on a stream needs a WATERMARK for its time column: declare it in CREATE TABLE.",
            )
        if not grouping.keys:
            raise ScriptError(
                place_of(select), "a SESSION window on a stream needs a further column in GROUP BY, such as the user's."
            )
        return True
    return grouping.is_windowed and planning.is_final


def _refuse_forms(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None:
        return
    forms = [key for key in ("grouping_sets", "cube", "rollup", "all") if group.args.get(key)]
    forms += [key.key for key in group.expressions if isinstance(key, (exp.Rollup, exp.Cube, exp.GroupingSets))]
    if forms:
        clause = {"grouping_sets": "GROUPING SETS", "groupingsets": "GROUPING SETS"}.get(forms[0], forms[0].upper())
        raise ScriptError(
            place_of(group), f"GROUP BY {clause} does not run on a stream: write one INSERT for each grouping."
        )
