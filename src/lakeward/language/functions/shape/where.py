"""Where a piece of a tree stands in its statement."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.place import Place


def place_of(node: exp.Expression) -> Place:
    """The place of a node or of what is nearest to it; line 0 says that the column is an offset in the statement."""
    near: exp.Expr | None = node
    while near is not None:
        starts = [
            each.meta["start"] for each in ([near] if "start" in near.meta else near.walk()) if "start" in each.meta
        ]
        if starts:
            return Place(0, min(starts))
        near = near.parent
    return Place(0, 0)
