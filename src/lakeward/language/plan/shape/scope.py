"""Scope: the relations in FROM, and which of them a column is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.relation import Relation
from lakeward.language.plan.shape.trees import is_repeatable, place_of
from lakeward.language.plan.shape.window import WINDOW_COLUMNS, Window


@dataclass(frozen=True)
class Item:
    """A relation in FROM under its name; `window`: what its window columns mean."""

    alias: str
    relation: Relation
    window: Window | None = None
    join: exp.Join | None = None
    is_lateral: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """What a star shows of it."""
        return (*self.relation.columns, *(WINDOW_COLUMNS if self.window is not None else ()))

    def find(self, name: str) -> str | None:
        """The column of that name, as it is really called."""
        return next((known for known in self.columns if known.lower() == name.lower()), None)


@dataclass(frozen=True)
class Scope:
    """All relations of one SELECT, in their order."""

    items: tuple[Item, ...]

    def item(self, alias: str) -> Item | None:
        """The relation of that name."""
        return next((item for item in self.items if item.alias.lower() == alias.lower()), None)

    def owner(self, node: exp.Column) -> tuple[Item, str, list[str]] | None:
        """Whose column it is, its name, and the fields that are taken of it; None if it is nobody's."""
        parts = [part.name for part in node.parts]
        for cut in range(len(parts) - 1, 0, -1):  # a.b.c: column c of a.b, then column b of a with field c
            item = self.item(parts[cut - 1])
            if item is not None and (name := item.find(parts[cut])) is not None:
                return item, name, parts[cut + 1 :]
        found = [(item, name) for item in self.items if (name := item.find(parts[0])) is not None]
        if len(found) > 1:
            raise ScriptError(
                place_of(node),
                f"column '{parts[0]}' is in {' and '.join(item.alias for item, _ in found)}: say which, such as "
                f"{found[0][0].alias}.{parts[0]}.",
            )
        return (found[0][0], found[0][1], parts[1:]) if found else None

    def is_sure(self, tree: exp.Expr) -> bool:
        """Whether an expression has the same value when a row is told again, to be taken back."""
        owners = (self.owner(node) for node in tree.find_all(exp.Column) if not isinstance(node.this, exp.Star))
        return is_repeatable(tree) and not any(owner and owner[1] in owner[0].relation.volatile for owner in owners)

    def require_sure(self, tree: exp.Expr | None, clause: str) -> None:
        """ScriptError for a clause over changes that may decide otherwise when a row is taken back."""
        if tree is not None and not self.is_sure(tree):
            raise ScriptError(
                place_of(tree),
                f"{clause} over rows that change needs the same value when a row is taken back: leave out what gives "
                "another value each time (RAND, CURRENT_TIMESTAMP, PROCTIME, …).",
            )

    def require(self, node: exp.Column) -> None:
        """ScriptError for a column that nobody has."""
        known = [name for item in self.items for name in item.columns]
        near = get_close_matches(node.name, known, 1)
        hint = f" Did you mean '{near[0]}'?" if near else f" There are: {', '.join(known[:20])}."
        raise ScriptError(place_of(node), f"no table of this query has a column '{node.sql()}'.{hint}")

    def stars(self, expressions: list[exp.Expr]) -> Iterator[exp.Expr]:
        """The expressions of SELECT with every star as the columns it stands for."""
        for one in expressions:
            if isinstance(one, exp.Star):
                yield from self._star(one, self.items)
            elif isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
                item = self.item(one.table)
                if item is None:
                    raise ScriptError(place_of(one), f"'{one.table}.*': no table of this query is called {one.table}.")
                yield from self._star(one.this, (item,))
            else:
                yield one

    @staticmethod
    def _star(star: exp.Star, items: tuple[Item, ...]) -> Iterator[exp.Expr]:
        left_out = {node.name.lower() for node in star.args.get("except_") or star.args.get("except") or ()}
        for item in items:
            for name in item.columns:
                if name.lower() not in left_out:
                    yield exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(item.alias))


Rename = Callable[[Item, str], exp.Expr]


def resolve(tree: exp.Expr, scope: Scope, rename: Rename, known: frozenset[str] = frozenset()) -> exp.Expr:
    """A copy in which every column is what `rename` makes of it; names in `known` (aliases) stay as they are."""

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star) or "is_found" in node.meta:
            return node
        owner = scope.owner(node)
        if owner is None:
            if len(node.parts) == 1 and (node.name.lower() in known or _is_bound(node)):
                return node
            scope.require(node)
            raise AssertionError
        item, name, fields = owner
        value = rename(item, name)
        for field in fields:
            value = exp.Dot(this=value, expression=exp.to_identifier(field, quoted=True))
        return value

    return tree.copy().transform(change, copy=False)


def _is_bound(node: exp.Expr) -> bool:
    """Whether a name is the parameter of a lambda around it."""
    above = node.parent
    while above is not None:
        if isinstance(above, exp.Lambda) and any(one.name.lower() == node.name.lower() for one in above.expressions):
            return True
        above = above.parent
    return False
