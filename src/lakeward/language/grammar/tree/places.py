"""Where in the script a node of a statement's tree stands."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.place import Place
from lakeward.language.statements.statement import Statement


def place_of(statement: Statement, node: exp.Expr) -> Place:
    """The place of the first name or call in a node; where it has none, that of the statement."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    before = statement.text[: min(starts, default=0)]
    line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
    start = statement.place
    return Place(start.line + line, column + 1 if line else start.column + column)
