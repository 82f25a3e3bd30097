"""Shown: one column of a SELECT, under the name it will have."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lakeward.language.plan.shape.scope import Scope


@dataclass(frozen=True)
class Shown:
    """What is shown, as it was written, and under which name."""

    tree: exp.Expr
    name: str


def shown_columns(select: exp.Select, scope: Scope) -> list[Shown]:
    """The columns of a SELECT; a star is every column it stands for, and no two have the same name."""
    shown: list[Shown] = []
    taken: set[str] = set()
    for one in scope.stars(select.expressions):
        name = one.alias_or_name or one.sql()
        tree = one.this if isinstance(one, exp.Alias) else one
        if isinstance(tree, exp.Column) and not isinstance(one, exp.Alias):
            name = tree.name
        unique, number = name, 0
        while unique.lower() in taken:
            unique, number = f"{name}{number}", number + 1
        taken.add(unique.lower())
        shown.append(Shown(tree, unique))
    return shown
