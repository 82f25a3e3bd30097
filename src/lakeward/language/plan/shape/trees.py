"""Small pieces of trees that plans are made of."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE
from lakeward.language.functions import is_deterministic
from lakeward.language.place import Place


def column(name: str, table: str | None = None) -> exp.Column:
    """A column by name, quoted; it is where it belongs, and is not looked for again."""
    made = exp.column(exp.to_identifier(name, quoted=True), table=_identifier(table))
    made.meta["is_found"] = True
    return made


def _identifier(name: str | None) -> exp.Identifier | None:
    return None if name is None else exp.to_identifier(name, quoted=True)


def quote(name: str) -> str:
    """A name as Spark's SQL and its columns want it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function call."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def spark_call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function of Spark's, which means what it means there."""
    made = call(name, *arguments)
    made.meta["is_spark"] = True
    return made


def name_as(value: exp.Expr, name: str) -> exp.Alias:
    """`value AS name`."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def text(value: str) -> exp.Literal:
    """A string."""
    return exp.Literal.string(value)


def table(name: str) -> exp.Table:
    """A view of the session by name."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def put_under(tree: exp.Expr, alias: str) -> exp.Expr:
    """A relation under a name in FROM."""
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    if isinstance(tree, exp.Query) and not isinstance(tree, exp.Subquery):
        return exp.Subquery(this=tree, alias=name)
    copy = tree.copy()
    copy.set("alias", name)
    return copy


def change_type(alias: str | None = None) -> exp.Column:
    """The hidden column with the change type."""
    return column(CHANGE_TYPE, alias)


def is_added(alias: str | None = None) -> exp.Expr:
    """Whether a row of a changelog adds."""
    return exp.In(this=change_type(alias), expressions=[text("insert"), text("update_after")])


def place_of(tree: exp.Expr) -> Place:
    """Where a tree stands: line 0 means that the column is an offset in the text of its statement."""
    starts = [node.meta["start"] for node in tree.walk() if "start" in node.meta]
    return Place(0, min(starts, default=0))


def conjuncts(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that all must hold."""
    if tree is None:
        return
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.this)
        yield from conjuncts(tree.expression)
    elif isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    else:
        yield tree


def all_of(parts: list[exp.Expr]) -> exp.Expr | None:
    """A condition of parts that all must hold."""
    return exp.and_(*parts, copy=False) if parts else None


def is_repeatable(tree: exp.Expr) -> bool:
    """Whether an expression has the same value whenever it is asked of the same row."""
    calls = [str(node.this) for node in tree.find_all(exp.Anonymous)]
    bare = [node.name for node in tree.find_all(exp.Column) if len(node.parts) == 1 and not node.this.quoted]
    return all(is_deterministic(name) for name in (*calls, *bare))
