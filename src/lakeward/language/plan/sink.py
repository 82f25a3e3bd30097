"""What a sink needs of a query's rows: whether it can take them, and in which form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.language.changes import Changes
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.shape.relation import Relation


@dataclass(frozen=True, slots=True)
class Target:
    """A sink: its name for people, what it takes, and its primary key."""

    name: str
    takes: Changes
    primary_key: tuple[str, ...] = ()


def check_rows(relation: Relation, target: Target, columns: Mapping[str, str], place: Place) -> None:
    """ScriptError when the sink would keep something wrong; `columns`: sink's column → the query's."""
    if not relation.has_changes or target.takes is Changes.CHANGELOG:
        return
    if target.takes is Changes.APPEND:
        raise ScriptError(
            place,
            f"{target.name} only takes new rows, and this query {_why(relation)}. Give it a PRIMARY KEY"
            + (", or group by a window whose time has a WATERMARK." if "aggregate" in relation.state else "."),
        )
    if relation.key is None:
        raise ScriptError(
            place,
            f"this query {_why(relation)}, and its rows have no key that is shown, so {target.name} would not know "
            f"which of its rows to change. {_key_hint(relation)}",
        )
    in_key = {columns[name] for name in target.primary_key if name in columns}
    if not all(part & in_key for part in relation.key):
        raise ScriptError(
            place,
            f"the rows of this query change by ({relation.key_columns()}), the primary key of {target.name} is "
            f"({', '.join(target.primary_key)}): rows of different keys would overwrite each other. Make "
            f"({relation.key_columns()}) part of its primary key.",
        )
    if in_key & relation.volatile:
        raise ScriptError(
            place,
            f"the primary key of {target.name} has {', '.join(sorted(in_key & relation.volatile))}, which has another "
            "value each time it is asked: rows that go would not be found again. Take it out of the primary key.",
        )
    if relation.changes is Changes.UPSERT and not in_key <= relation.of_key | frozenset().union(*relation.key):
        wrong = sorted(in_key - relation.of_key - frozenset().union(*relation.key))
        raise ScriptError(
            place,
            f"the primary key of {target.name} has {', '.join(wrong)}, which changes while the query's own key "
            f"({relation.key_columns()}) stays: old rows would be left behind. Take it out of the primary key.",
        )


def needs_before(relation: Relation, target: Target, columns: Mapping[str, str]) -> bool:
    """Whether rows by key move from one key of the sink to another, so that it must be told what was before."""
    if relation.changes is not Changes.UPSERT or "aggregate" in relation.state or relation.key is None:
        return False
    if target.takes is not Changes.UPSERT:
        return target.takes is Changes.CHANGELOG
    in_key = {columns[name] for name in target.primary_key if name in columns}
    return not in_key <= relation.of_key | frozenset().union(*relation.key)


def _why(relation: Relation) -> str:
    if "aggregate" in relation.state:
        return "changes what it has told (GROUP BY or DISTINCT)"
    return "reads a table whose rows change"


def _key_hint(relation: Relation) -> str:
    if "aggregate" in relation.state:
        return "Show every column of GROUP BY in the SELECT."
    if "join" in relation.state:
        return "Give every table of the JOIN a PRIMARY KEY and show it, or look one up with FOR SYSTEM_TIME AS OF."
    return "Give the table that is read a PRIMARY KEY, if it has none, and show its columns in the SELECT."
