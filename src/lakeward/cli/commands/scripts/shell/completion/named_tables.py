"""The tables that a statement speaks of, by the names that its columns can be said with."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.cli.commands.scripts.shell.completion.words import KEYWORDS
from lakeward.language.grammar.text.lexer import Token

TABLE_FOLLOWS = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "OVERWRITE", "TABLE", "USING", "DESCRIBE", "DESC"})
_NAMES = {"word", "quoted"}


def named_tables(tokens: Sequence[Token]) -> dict[str, tuple[str, ...]]:
    """Alias, or last part of the name → the parts of the name."""
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(tokens):
        is_next = tokens[at].key in TABLE_FOLLOWS or (tokens[at].key == "," and _is_list_of_tables(tokens, at))
        at += 1
        if is_next and at < len(tokens) and _is_name(tokens[at]):
            parts, at = _name(tokens, at)
            alias, at = _alias(tokens, at)
            found[alias or parts[-1]] = parts
    return found


def _is_list_of_tables(tokens: Sequence[Token], at: int) -> bool:
    """Whether a comma stands in the list after FROM."""
    clauses = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "ON", "(", "SET", "VALUES")
    before = next((token.key for token in reversed(tokens[:at]) if token.key in clauses), "")
    return before == "FROM"


def _is_name(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.key not in KEYWORDS)


def _name(tokens: Sequence[Token], at: int) -> tuple[tuple[str, ...], int]:
    parts = [tokens[at].value]
    at += 1
    while at + 1 < len(tokens) and tokens[at].key == "." and tokens[at + 1].kind in _NAMES:
        parts.append(tokens[at + 1].value)
        at += 2
    return tuple(parts), at


def _alias(tokens: Sequence[Token], at: int) -> tuple[str | None, int]:
    at += at < len(tokens) and tokens[at].kind == "hint"
    if at < len(tokens) and tokens[at].key == "FOR":  # FOR SYSTEM_TIME AS OF o.at AS c
        behind = next((i for i in range(at, len(tokens)) if tokens[i].key in {"ON", "WHERE", ";"}), len(tokens))
        if behind - 2 > at and tokens[behind - 2].key == "AS":
            return tokens[behind - 1].value, behind
        return None, behind
    at += at < len(tokens) and tokens[at].key == "AS"
    if at < len(tokens) and _is_name(tokens[at]):
        return tokens[at].value, at + 1
    return None, at
