"""to_spark: a tree whose functions, types and literals are Spark's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import Around, SparkForm
from lakeward.language.functions.shape.function import Call, Kind
from lakeward.language.functions.syntax import SYNTAX
from lakeward.language.functions.table import FUNCTIONS

#: Functions that are written without parentheses.
_BARE: Final = {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "LOCALTIMESTAMP"}

#: What has no name of its own in a list of columns; a function that is not known may give many.
_UNNAMED: Final = (exp.Condition, exp.Func, exp.Window, exp.Subquery, exp.Interval, exp.Filter, exp.WithinGroup)


def to_spark(tree: exp.Expr) -> exp.Expr:
    """A translated copy of an expression or of a whole query; what is not known stays as it is."""
    root = tree.copy()
    # Arguments first: a row takes them as they are on Spark.
    for node in reversed([each for each in root.walk(bfs=False) if isinstance(each, exp.Expression)]):
        translate = _TRANSLATORS.get(type(node))
        # A planner marks what it made of Spark's own functions.
        if translate is None or "is_spark" in node.meta:
            continue
        new = translate(node)
        if new is node:
            continue
        if node is root:
            root = new
        else:
            node.replace(new)
    return root


def _function(node: exp.Expression) -> exp.Expression:
    """A call of a function by its row; a function of another catalog or of Spark's own passes."""
    row = FUNCTIONS.get(node.name.upper())
    if row is None or (isinstance(node.parent, exp.Dot) and node.parent.expression is node):
        return node
    arguments = [each.this if isinstance(each, exp.RespectNulls) else each for each in node.expressions]
    if row.kind is Kind.AGGREGATE and len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        # DISTINCT belongs to the value, not to what follows it, such as a separator.
        first, *rest = arguments[0].expressions
        arguments = [exp.Distinct(expressions=[first]), *rest]
    return row.translate(Call(row.name, arguments, node))


def _syntax(node: exp.Expression) -> exp.Expression:
    """Syntax of its own, such as EXTRACT(… FROM …), by the row that it is."""
    found = SYNTAX[type(node)](node)
    if isinstance(found, exp.Expression):
        return found
    name, arguments = found
    return FUNCTIONS[name].translate(Call(name, arguments, node))


def _bare_function(node: exp.Expression) -> exp.Expression:
    """CURRENT_TIMESTAMP and its like, where the parser took them for columns."""
    name = node.name.upper()
    if name not in _BARE or node.args.get("table") or node.this.args.get("quoted"):
        return node
    return FUNCTIONS[name].translate(Call(name, [], node))


def _select(node: exp.Expression) -> exp.Expression:
    """Columns that have no name get that of the guide's SQL, EXPR$ and their number, instead of a long formula."""
    named: list[exp.Expr] = []
    for index, column in enumerate(node.expressions):
        if isinstance(column, _UNNAMED) and not isinstance(column, exp.Column | exp.Dot | exp.Anonymous):
            # Made without exp.alias_, which copies.
            named.append(exp.Alias(this=column, alias=exp.Identifier(this=f"EXPR${index}", quoted=True)))
        else:
            named.append(column)
    node.set("expressions", named)
    return node


def _nulls(node: exp.Expression) -> exp.Expression:
    """FIRST_VALUE(x) IGNORE NULLS and RESPECT NULLS: what the row says as an argument."""
    first = node.this
    if not isinstance(first, SparkForm) or not first.this.endswith("_value({0}, TRUE)"):
        return node
    if isinstance(node, exp.RespectNulls):
        first.set("this", first.this.replace("TRUE", "FALSE"))
    return first


def _around(node: exp.Expression) -> exp.Expression:
    """FILTER and OVER belong to the aggregate inside of a form."""
    outer = node.this
    if not isinstance(outer, Around):
        return node
    inner = node.copy()
    inner.set("this", outer.expressions[0])
    return Around(this=outer.this, expressions=[inner])


_TRANSLATORS: Final[dict[type[exp.Expression], Callable[[exp.Expression], exp.Expression]]] = {
    exp.Anonymous: _function,
    exp.Column: _bare_function,
    exp.Filter: _around,
    exp.Window: _around,
    exp.IgnoreNulls: _nulls,
    exp.RespectNulls: _nulls,
    exp.Select: _select,
    **dict.fromkeys(SYNTAX, _syntax),
}
