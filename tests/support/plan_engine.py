"""PlanEngine: tables and views by name for plans without Spark, and what was planned over them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from lakeward.language.changes import Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import read_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.shape import trees
from lakeward.language.plan.shape.engine import LookupStep, Style
from lakeward.language.plan.shape.relation import LATER, EventTime, Lookup, Relation, simple_key
from lakeward.language.plan.sink import Target, check_rows, needs_before
from lakeward.language.plan.stream import NeedsBeforeError, Planner
from lakeward.language.statements.rows import Select


def log(name: str, columns: str, time: str | None = None, *, is_ntz: bool = False) -> Relation:
    """A table whose rows are only added; `time` has a watermark."""
    return Relation(
        tree=trees.table(name),
        columns=tuple(columns.split()),
        is_stream=True,
        time=None if time is None else EventTime(time, is_ntz),
        name=name,
    )


def keyed(name: str, columns: str, key: str, time: str | None = None, bucket_key: str | None = None) -> Relation:
    """A table with a primary key."""
    primary_key = tuple(key.split())
    return replace(
        log(name, columns, time),
        changes=Changes.CHANGELOG,
        key=simple_key(primary_key),
        of_key=frozenset(primary_key),
        lookup=Lookup(None, primary_key, tuple((bucket_key or key).split())),
    )


#: Tables that most tests speak of.
TABLES = (
    log("clicks", "id user url at", "at"),
    log("plain", "id g v"),
    keyed("orders", "id user_id g v", "id"),
    keyed("users", "id name city", "id"),
    keyed("events", "id user v at", "id", "at"),
    keyed("parts", "a b c", "a b", bucket_key="a"),
    replace(keyed("quiet", "id g v", "id"), changes=Changes.UPSERT),
    replace(keyed("late", "id g v", "id"), state=(LATER,)),
    replace(keyed("stamped", "id g now", "id"), volatile=frozenset(["now"])),
    Relation(tree=trees.table("file"), columns=("id", "label"), name="file"),
)


class PlanEngine:
    """Gives the tables it was made with; views are queries by name."""

    def __init__(self, *tables: Relation, **views: str) -> None:
        self._tables = {table.name: table for table in (*TABLES, *tables)}
        self._views = {name: parse(text) for name, text in views.items()}
        self.looked_up: list[tuple[str, LookupStep]] = []

    def table(self, table: exp.Table, *, as_stream: bool) -> Relation | exp.Query:
        """A table or a view."""
        if table.name in self._views:
            return self._views[table.name]
        if table.name not in self._tables:
            raise ScriptError(trees.place_of(table), f"there is no table '{table.name}'")
        found = self._tables[table.name]
        if as_stream:
            return replace(found, lookup=None)
        return replace(found, is_stream=False, changes=Changes.APPEND, time=None, tree=trees.table(f"now:{found.name}"))

    def columns(self, query: exp.Query) -> tuple[str, ...]:
        """The names that a query shows."""
        return tuple(query.named_selects)

    def kinds(self, query: exp.Query) -> tuple[str, ...]:
        """Columns called `name` are texts, all others numbers."""
        return tuple("text" if one.this.name == "name" else "number" for one in query.selects)

    def distinct(self, query: exp.Query) -> exp.Table:
        """A view that stands for the rows without those that came before."""
        return trees.table(f"distinct({sql(query)})")

    def look_up(self, query: exp.Query, step: LookupStep) -> exp.Table:
        """A view that stands for the rows with those that were looked up."""
        self.looked_up.append((sql(query), step))
        return trees.table(f"lookup{len(self.looked_up)}")


def parse(text: str) -> exp.Query:
    """A query."""
    statement = next(iter(read_script(text)))
    assert isinstance(statement, Select)
    return statement.query


def sql(tree: exp.Expr) -> str:
    """Spark SQL without its backticks."""
    return spark_text(to_spark(tree)).replace("`", "")


def plan(
    text: str, engine: PlanEngine | None = None, *, is_final: bool = False, sink: Target | None = None
) -> Relation:
    """A query planned as a statement does it: by key, or where that cannot be, with what was before."""
    query, engine = parse(text), engine or PlanEngine()
    try:
        relation = Planner(engine, Style.BY_KEY, is_final).plan(query)
        if sink is not None and needs_before(
            relation, sink, dict(zip(relation.columns, relation.columns, strict=True))
        ):
            raise NeedsBeforeError
    except NeedsBeforeError:
        relation = Planner(engine, Style.BEFORE_AND_AFTER, is_final).plan(query)
    if sink is not None:
        check_rows(relation, sink, dict(zip(relation.columns, relation.columns, strict=True)), Place(1, 1))
    return relation


def refusal(text: str, engine: PlanEngine | None = None, *, sink: Target | None = None) -> tuple[str, str]:
    """What of the text a refusal points at (the rest of it), and what it says."""
    try:
        relation = plan(text, engine, sink=sink)
    except ScriptError as wrong:
        return text[wrong.place.column :] if wrong.place.line == 0 else "", wrong.sentence
    raise AssertionError(f"planned: {sql(relation.tree)}")
