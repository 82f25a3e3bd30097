"""Planner: what a query means on streams, as Spark SQL that is right; what cannot be right is refused.

Three kinds of rows come out of a query: rows that are only added, changes (each row adds or takes away), and changes by
key (each row replaces that of its key, or deletes it). A hidden column says which, another carries the event time.

| step | rows added | changes | changes by key |
|---|---|---|---|
| WHERE | left out | left out | a row that does not pass is a delete |
| JOIN | Spark's | weights are multiplied | – |
| lookup | as of now | – | an inner one that finds nothing is a delete |
| GROUP BY | changes by key | the same, by weights | – |
| GROUP BY window, final | rows added | rows added, by weights | – |
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.bounded import named_columns, rewrite_bounded
from lakeward.language.plan.ctes import Ctes, all_ctes, cte_of, with_ctes
from lakeward.language.plan.shape.block import Block
from lakeward.language.plan.shape.engine import Engine, Style
from lakeward.language.plan.shape.relation import LATER, TIME, Relation, simple_key
from lakeward.language.plan.shape.scope import Item, Scope
from lakeward.language.plan.shape.trees import change_type, column, name_as, place_of, put_under, spark_call, text
from lakeward.language.plan.shape.window import CUMULATE, make_window
from lakeward.language.plan.steps.hop import with_windows
from lakeward.language.plan.steps.joins import add_item
from lakeward.language.plan.steps.newest import with_newest
from lakeward.language.plan.steps.select import project_rows
from lakeward.language.plan.steps.union import unite


class NeedsBeforeError(Exception):
    """A step needs to know what was before an update; the query is planned again in that style."""


@dataclass(frozen=True)
class Planner:
    """Plans one query. `is_final`: windows are told once, when they are complete."""

    engine: Engine
    style: Style = Style.BY_KEY
    is_final: bool = False

    def plan(self, query: exp.Expr, ctes: Ctes | None = None) -> Relation:
        """The rows of a query."""
        tables = with_ctes(query, ctes or {})
        if isinstance(query, exp.Subquery):
            return self.plan(query.this, tables)
        if not self.reads_stream(query, tables):
            return self._read_bounded(query, tables)
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query, tables)
        if isinstance(query, exp.Select):
            return self._select(query, tables)
        if isinstance(query, exp.Table):
            return self._relation(query, tables)
        raise ScriptError(place_of(query), f"{type(query).__name__.upper()} is no query that can run on a stream.")

    def reads_stream(self, query: exp.Expr, tables: Ctes) -> bool:
        """Whether any table in a query is a stream."""
        inside = all_ctes(query, tables)
        for node in query.find_all(exp.Table):
            cte = cte_of(node, inside)
            if cte is not None:
                if self.reads_stream(cte.query, cte.tables):
                    return True
                continue
            found = self.engine.table(node, as_stream=True)
            if found.is_stream if isinstance(found, Relation) else self.reads_stream(found, {}):
                return True
        return False

    # -- bounded parts ------------------------------------------------------------------------------------------------

    def _read_bounded(self, query: exp.Expr, tables: Ctes) -> Relation:
        assert isinstance(query, exp.Query)
        tree = bounded_query(self.engine, query, tables)
        return Relation(tree=tree, columns=self.engine.columns(tree))

    # -- FROM ---------------------------------------------------------------------------------------------------------

    def _relation(self, node: exp.Table, tables: Ctes) -> Relation:
        cte = cte_of(node, tables)
        if cte is not None:
            return _with_names(self.plan(cte.query, cte.tables), cte.columns, node)
        found = self.engine.table(node, as_stream=True)
        if not isinstance(found, Relation):
            return self.plan(found)
        return self._in_style(found, node)

    def _in_style(self, found: Relation, node: exp.Expr) -> Relation:
        """A stream of changes, told as this plan wants it."""
        if not found.has_changes:
            return found
        if self.style is Style.BY_KEY:
            if found.changes is Changes.UPSERT:
                return replace(found, of_key=_key_names(found))
            inner = exp.select(
                *(column(name) for name in found.columns),
                name_as(
                    spark_call(
                        "IF",
                        exp.EQ(this=change_type(), expression=text("delete")),
                        text("delete"),
                        text("update_after"),
                    ),
                    CHANGE_TYPE,
                ),
                *([column(TIME)] if found.time else []),
            ).from_(put_under(found.tree, "changes"))
            inner = inner.where(exp.NEQ(this=change_type("changes"), expression=text("update_before")))
            return replace(found, tree=inner, changes=Changes.UPSERT, of_key=_key_names(found))
        if found.changes is Changes.UPSERT:
            raise ScriptError(
                place_of(node),
                f"the changelog of {found.name} does not say what was before an update, so a GROUP BY, JOIN, UNION or "
                "DISTINCT over it cannot be right. Have the changelog tell it: a table of Fluss is made with "
                "'table.changelog.image' = 'full', one of PostgreSQL gets ALTER TABLE … REPLICA IDENTITY FULL. Or read "
                "it bounded (SET 'execution.runtime-mode' = 'batch').",
            )
        return found

    def item(self, node: exp.Expr, tables: Ctes, join: exp.Join | None) -> Item:
        """One relation in FROM."""
        if isinstance(node, WindowTable):
            return self._with_window(node, tables, join)
        if isinstance(node, exp.Table):
            if node.args.get("version") is not None and join is not None:
                return Item(node.alias_or_name, self._looked_up(node), join=join)
            return Item(node.alias_or_name, _with_names(self._relation(node, tables), _names(node), node), join=join)
        if isinstance(node, exp.Subquery):
            relation = self.plan(node.this, tables)
            return Item(node.alias or "rows", _with_names(relation, _names(node), node), join=join)
        alias = node.args.get("alias")
        made = tuple(one.name for one in alias.columns) if alias is not None else ()
        relation = Relation(tree=node, columns=made)
        return Item(node.alias_or_name or "rows", relation, join=join, is_lateral=True)

    def _looked_up(self, node: exp.Table) -> Relation:
        found = self.engine.table(node, as_stream=False)
        if not isinstance(found, Relation):
            raise ScriptError(place_of(node), f"{node.sql()} is a view: FOR SYSTEM_TIME AS OF needs a table.")
        return found

    def _with_window(self, node: WindowTable, tables: Ctes, join: exp.Join | None) -> Item:
        inner = self.item(node.this, tables, join)
        if node.kind == CUMULATE and inner.relation.is_stream:
            raise ScriptError(
                place_of(node),
                "CUMULATE does not run on a stream: Spark has no such window. TUMBLE by the step into a primary key "
                "table and sum its rows in a bounded query, or SET 'execution.runtime-mode' = 'batch'.",
            )
        alias = node.alias or inner.alias
        time = inner.relation.time
        name = node.args["time"].name
        if inner.find(name) is None:
            Scope((inner,)).require(column(name))
        when = column(inner.find(name) or name, alias)
        window = make_window(node.kind, when, tuple(node.args["intervals"]), time, alias)
        return Item(alias, inner.relation, window=window, join=join)

    # -- SELECT -------------------------------------------------------------------------------------------------------

    def _select(self, select: exp.Select, tables: Ctes) -> Relation:
        _refuse_clauses(select)
        select = with_newest(select, lambda rows: self.plan(rows, tables).columns)
        source = select.args.get("from_")
        assert source is not None, "a query that reads a stream has a FROM"
        block = Block()
        nodes = [(source.this, None), *((join.this, join) for join in select.args.get("joins") or ())]
        nodes += [(join.this, join) for join in source.this.args.get("joins") or ()]
        items = [self.item(node, tables, join) for node, join in nodes]
        _refuse_same_names(items)
        items = with_windows(items, select)
        scope = Scope(tuple(items))
        self._refuse_streams_inside(select, tables)
        select = self._with_bounded_insides(select, tables)
        for item in items:
            add_item(block, item, scope, select, self)
        return project_rows(select, block, scope, self)

    def before(self, node: exp.Expr, what: str, state: tuple[str, ...]) -> None:
        """Called where changes by key cannot be taken: plan again with what was before, or say why not."""
        if LATER in state:
            raise ScriptError(
                place_of(node),
                f"{what} over changes that are read from a later moment on (scan.startup.mode): what was before it is "
                "not known, so it cannot be right. Leave the option out: then all rows are read first.",
            )
        if "aggregate" in state:
            raise ScriptError(
                place_of(node),
                f"{what} over a GROUP BY does not run on a stream: Spark cannot take back what the inner query has "
                "told. INSERT the inner query INTO a primary key table and read that table here: its changes say "
                "what was before.",
            )
        if self.style is Style.BY_KEY:
            raise NeedsBeforeError(what)

    def _refuse_streams_inside(self, select: exp.Select, tables: Ctes) -> None:
        for query in _inner_queries(select):
            if self.reads_stream(query, tables):
                raise ScriptError(
                    place_of(query),
                    "a subquery in an expression (IN, EXISTS, a single value) over a stream would miss later changes: "
                    "join the table instead, by key with FOR SYSTEM_TIME AS OF or with an inner JOIN.",
                )

    def _with_bounded_insides(self, select: exp.Select, tables: Ctes) -> exp.Select:
        select = select.copy()
        for query in _inner_queries(select):
            # As text: names and aggregates in it are its own, not those of the query around it.
            query.replace(exp.var(spark_text(to_spark(bounded_query(self.engine, query, tables)))))
        return select

    # -- UNION --------------------------------------------------------------------------------------------------------

    def _set_operation(self, query: exp.SetOperation, tables: Ctes) -> Relation:
        _refuse_clauses(query)
        if not isinstance(query, exp.Union):
            raise ScriptError(
                place_of(query), f"{query.key.upper()} does not run on a stream; use a JOIN, or read bounded rows."
            )
        sides = [self.plan(side, tables) for side in (query.this, query.expression)]
        for side in sides:
            if side.changes is Changes.UPSERT:
                self.before(query, "UNION", side.state)
        return unite(sides, self.engine, is_distinct=bool(query.args.get("distinct")), node=query)


def bounded_query(engine: Engine, query: exp.Query, tables: Ctes) -> exp.Query:
    """A query whose tables are read as they are now."""

    def read(node: exp.Table) -> exp.Expr:
        cte = cte_of(node, tables)
        if cte is not None:
            return named_columns(bounded_query(engine, cte.query, cte.tables), cte.columns)
        found = engine.table(node, as_stream=False)
        return found.tree if isinstance(found, Relation) else bounded_query(engine, found, {})

    return rewrite_bounded(query, read)


def _key_names(relation: Relation) -> frozenset[str]:
    return frozenset().union(*(relation.key or simple_key(())))


def _names(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    return tuple(one.name for one in alias.columns) if alias is not None else ()


def _with_names(relation: Relation, names: tuple[str, ...], node: exp.Expr) -> Relation:
    if not names:
        return relation
    if len(names) != len(relation.columns):
        raise ScriptError(
            place_of(node),
            f"{node.alias_or_name} gives {len(names)} names ({', '.join(names)}) to {len(relation.columns)} columns "
            f"({', '.join(relation.columns)}).",
        )
    renamed = dict(zip(relation.columns, names, strict=True))
    hidden = [*([CHANGE_TYPE] if relation.has_changes else []), *([TIME] if relation.time else [])]
    tree = exp.select(
        *(name_as(column(old), new) for old, new in renamed.items()), *(column(name) for name in hidden)
    ).from_(put_under(relation.tree, "rows"))
    time = relation.time and replace(relation.time, column=renamed.get(relation.time.column, relation.time.column))
    key = relation.key and tuple(frozenset(renamed.get(one, one) for one in part) for part in relation.key)
    of_key = frozenset(renamed.get(one, one) for one in relation.of_key)
    volatile = frozenset(renamed.get(one, one) for one in relation.volatile)
    columns = tuple(renamed.values())
    return replace(relation, tree=tree, columns=columns, key=key, of_key=of_key, volatile=volatile, time=time)


def _refuse_same_names(items: list[Item]) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        if seen.setdefault(item.alias.lower(), item) is not item:
            raise ScriptError(
                place_of(item.join) if item.join is not None else Place(0, 0),
                f"two tables of FROM are called '{item.alias}': give one of them another name, such as "
                f"{item.alias} AS other.",
            )


def _inner_queries(select: exp.Select) -> list[exp.Query]:
    """Queries inside expressions of a SELECT, not those in FROM."""
    found = []
    for node in select.find_all(exp.Query):
        if node is select or isinstance(node, (exp.Subquery, exp.Table)):
            continue
        above = node.find_ancestor(exp.From, exp.Join, exp.With, exp.Query)
        while isinstance(above, exp.Subquery) and not isinstance(above.parent, (exp.From, exp.Join)):
            above = above.find_ancestor(exp.From, exp.Join, exp.With, exp.Query)
        if above is select:
            found.append(node)
    return found


_REFUSED = {
    "order": ("ORDER BY", "rows of a stream never end, so they cannot be sorted. Leave it out, or read bounded rows"),
    "limit": ("LIMIT", "which rows are first is not known on a stream. Leave it out, or read bounded rows"),
    "offset": ("OFFSET", "which rows are first is not known on a stream. Leave it out, or read bounded rows"),
    "qualify": ("QUALIFY", "ranks of a stream change with every row"),
    "sort": ("SORT BY", "rows of a stream never end"),
    "cluster": ("CLUSTER BY", "rows of a stream never end"),
}


def _refuse_clauses(query: exp.Expr) -> None:
    for key, (clause, why) in _REFUSED.items():
        found = query.args.get(key)
        if found is not None:
            raise ScriptError(place_of(found), f"{clause}: {why} (SET 'execution.runtime-mode' = 'batch').")
