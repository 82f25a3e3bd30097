"""HOP with WHERE over its windows: every row once for each of its windows, before WHERE chooses among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.relation import TIME
from lakeward.language.plan.shape.scope import Item, Scope
from lakeward.language.plan.shape.trees import column, name_as, place_of, put_under
from lakeward.language.plan.shape.window import HOP, WINDOW_COLUMNS

#: The window of a row, as a struct of start and end.
_WINDOW: Final = "__window"


def with_windows(items: list[Item], select: exp.Select) -> list[Item]:
    """The relations of FROM; one whose windows WHERE speaks of has them as a column.

    Spark makes the windows of a row anew in every clause that speaks of them: in WHERE and in GROUP BY that would be
    each row too often.
    """
    scope = Scope(tuple(items))
    return [_expand(item, items) if _is_chosen_by_window(item, select, scope) else item for item in items]


def _is_chosen_by_window(item: Item, select: exp.Select, scope: Scope) -> bool:
    where = select.args.get("where")
    if item.window is None or item.window.kind != HOP or where is None:
        return False
    owners = (scope.owner(node) for node in where.find_all(exp.Column))
    return any(owner is not None and owner[0] is item and owner[1] in WINDOW_COLUMNS for owner in owners)


def _expand(item: Item, items: list[Item]) -> Item:
    relation, window = item.relation, item.window
    assert window is not None
    looked_up = next((other for other in items if other.join is not None and other.relation.lookup is not None), None)
    if looked_up is not None and looked_up.join is not None:
        raise ScriptError(
            place_of(looked_up.join),
            "a lookup beside a WHERE over the windows of HOP: say the condition on the window in an outer query.",
        )
    hidden = [*([CHANGE_TYPE] if relation.has_changes else []), *([TIME] if relation.time is not None else [])]
    shown = [column(name, item.alias) for name in (*relation.columns, *hidden)]
    tree = exp.select(*shown, name_as(window.spark(), _WINDOW)).from_(put_under(relation.tree, item.alias))
    kept = replace(window, column=column(_WINDOW, item.alias))
    return replace(item, relation=replace(relation, tree=tree), window=kept)
