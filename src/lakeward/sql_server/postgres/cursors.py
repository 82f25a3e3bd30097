"""Cursors: answers that have a name in SQL. DECLARE begins one, FETCH and MOVE go on with it, CLOSE ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token
from lakeward.sql_server.postgres.portal import Portal
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.work.statement import Statement

_ADJECTIVES = {"BINARY", "ASENSITIVE", "INSENSITIVE", "NO", "SCROLL"}
_BACKWARD = {"PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE", "BACKWARD", "-"}
_OPEN_MAX = 100


class Declared(NamedTuple):
    """`DECLARE name CURSOR [WITH HOLD] FOR sql`."""

    name: str
    sql: str
    is_held: bool
    is_binary: bool


class Wanted(NamedTuple):
    """`FETCH 10 FROM name`; 0 rows are all that there are."""

    name: str
    rows: int


@dataclass(slots=True)
class Cursor:
    """One that is open; `asked` is what can be stopped, None where nothing runs any more."""

    portal: Portal
    asked: Statement | None
    is_held: bool


class Cursors:
    """Those of one session."""

    def __init__(self) -> None:
        self._open: dict[str, Cursor] = {}

    def check(self, declared: Declared, transaction: str) -> None:
        """Refuse one that Postgres would refuse."""
        if transaction != "T" and not declared.is_held:
            raise StateError("25P01", "DECLARE CURSOR can only be used in transaction blocks")
        if declared.name in self._open:
            raise StateError("42P03", f'cursor "{declared.name}" already exists')
        if len(self._open) >= _OPEN_MAX:
            raise StateError("53400", "There are too many cursors; close some.")

    def add(self, name: str, cursor: Cursor) -> None:
        """Keep it until it is closed, or its transaction ends."""
        self._open[name] = cursor

    def find(self, name: str) -> Cursor:
        """One by name."""
        if name not in self._open:
            raise StateError("34000", f'cursor "{name}" does not exist')
        return self._open[name]

    def portal(self, name: str) -> Portal | None:
        """The answer of one; None if there is none."""
        found = self._open.get(name)
        return None if found is None else found.portal

    def close(self, name: str) -> None:
        """Let go of one."""
        self.find(name).portal.close()
        del self._open[name]

    def close_all(self, *, is_over: bool) -> None:
        """Let go of all; of those that outlive a transaction, only where the session is over."""
        for name, cursor in list(self._open.items()):
            if is_over or not cursor.is_held:
                self.close(name)


def declared_of(statement: SqlText) -> Declared:
    """What a DECLARE says."""
    tokens = statement.tokens
    uppers = [token.upper for token in tokens]
    if "CURSOR" not in uppers[2:] or "FOR" not in uppers[2:] or set(uppers[2 : uppers.index("CURSOR")]) - _ADJECTIVES:
        raise StateError("42601", "A cursor is written DECLARE name CURSOR FOR SELECT …")
    begin = uppers.index("FOR")
    holds = uppers[uppers.index("CURSOR") + 1 : begin]
    if holds not in ([], ["WITH", "HOLD"], ["WITHOUT", "HOLD"]) or begin + 1 == len(tokens):
        raise StateError("42601", "A cursor is written DECLARE name CURSOR [WITH HOLD] FOR SELECT …")
    return Declared(
        tokens[1].name, statement.sql[tokens[begin + 1].at :], holds == ["WITH", "HOLD"], "BINARY" in uppers[:5]
    )


def wanted_of(statement: SqlText) -> Wanted:
    """What a FETCH or MOVE says; only forward, as rows come."""
    rest = list(statement.tokens[1:])
    if not rest:
        raise StateError("42601", "The name of a cursor is missing.")
    name = rest.pop().name
    if rest and rest[-1].upper in {"FROM", "IN"}:
        rest.pop()
    if rest and rest[0].upper in _BACKWARD:
        raise StateError("55000", "cursor can only scan forward", "Rows come once, in order.")
    if rest and rest[0].upper == "FORWARD":
        rest.pop(0)
    return Wanted(name, _rows(rest))


def _rows(rest: list[Token]) -> int:
    if not rest or rest[0].upper == "NEXT":
        return 1
    if rest[0].upper == "ALL":
        return 0
    if len(rest) > 1 or not rest[0].text.isdecimal() or not 0 < int(rest[0].text) < 1 << 62:
        raise StateError("42601", "FETCH takes a number of rows from 1 on, or ALL.")
    return int(rest[0].text)
