"""Texts of SQL: where something is wrong in them, and names as they are written; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """Line and column, from 1, the part of the line around it, and a mark under it."""

    line: int
    column: int
    text: str
    mark: str


def error_place(sql: str, position: int) -> ErrorPlace:
    """Where a character of a text stands."""
    position = min(position, len(sql))
    before = sql[:position]
    line, begin = before.count("\n") + 1, before.rfind("\n") + 1
    end = sql.find("\n", position)
    whole = sql[begin : len(sql) if end < 0 else end]
    column = position - begin
    cut = max(column - _SHOWN // 2, 0)
    shown = whole[cut : cut + _SHOWN].replace("\t", " ")
    return ErrorPlace(line, column + 1, shown, " " * (column - cut) + "^")


def sql_name(path: str) -> str:
    """A table's name for SQL: parts that are no plain words are quoted."""
    return ".".join(p if _PLAIN.fullmatch(p) else '"' + p.replace('"', '""') + '"' for p in path.split(".", 1))
