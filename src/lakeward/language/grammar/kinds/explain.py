"""EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.language.grammar.kinds.statement_set import read_set
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.split import Piece
from lakeward.language.statements.rows import Explain
from lakeward.language.statements.statement import Statement

_DETAILS = {"ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"}
_DETAILS |= {"EXTENDED", "CODEGEN", "COST", "FORMATTED"}


def explain(reader: Reader, parse: Callable[[Piece], Statement]) -> Statement:
    """EXPLAIN [PLAN FOR | details] statement; `parse` reads the statement."""
    reader.expect("EXPLAIN")
    details: list[str] = []
    if not reader.take("PLAN FOR"):
        while reader.key in _DETAILS:
            details.append(reader.key)
            reader.at += 1
            if not reader.take(","):
                break
    rest = reader.rest()
    statement = read_set(Reader(rest)) if reader.comes("STATEMENT SET") else parse(rest)
    return Explain(**reader.head, statement=statement, details=tuple(details))
