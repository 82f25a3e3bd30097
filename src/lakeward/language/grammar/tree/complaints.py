"""What sqlglot's parser complains of, in our words and at the place where a person looks."""

from __future__ import annotations

from typing import NoReturn

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.tree.tree_error import TreeError

#: Words that are easily misspelt, and then taken for a name.
_CLAUSES: tuple[str, ...] = (
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "WINDOW",
)
_CLAUSES += ("JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "CROSS", "FULL", "SELECT", "DISTINCT", "BETWEEN", "INTERVAL")
_CLAUSES += ("USING", "LATERAL", "PARTITION", "MATCHED", "WHEN", "THEN", "UPDATE", "DELETE", "INSERT", "CASE", "ELSE")
_CLAUSES += ("VALUES", "VIEW", "INTERSECT")
_KNOWN = {*_CLAUSES, "SET", "ON", "AS", "BY", "AND", "OR", "NOT", "IN", "IS", "END", "FOR", "OF", "TO", "ALL", "ROW"}


def refuse_tree(reader: Reader, error: TreeError, end: int) -> NoReturn:
    """Raise what the parser says of the tokens up to `end`."""
    first, message = reader.at, str(error)
    for at in range(first, end):
        if reader.piece.tokens[at].key == "MATCH_RECOGNIZE":
            reader.at = at
            reader.refuse("Spark has no MATCH_RECOGNIZE; expected windows, joins or functions OVER (…) instead.")
    reader.at = end if error.token is None else _index(reader, error.token.start + reader.piece.tokens[0].start)
    if message.startswith("Expected END after CASE"):
        reader.at = _open_case(reader, first)
        reader.refuse("CASE without its END; expected END.")
    stop = reader.at
    for at in (stop, stop - 1):
        reader.at = at
        question = reader.asks_semicolon() if first < at < end else ""
        if question:
            reader.refuse(f"{reader.next_label} is not expected here.{question}")
    # Where a unit is missing, what stands there is no clause that is misspelt.
    for at in range(max(first, stop - 2), min(stop + 2, end)) if "a unit" not in message else ():
        reader.at = at
        near = reader.near(_CLAUSES) if reader.key not in _KNOWN else ""
        if near:
            reader.refuse(f"{reader.next_label} is not expected here.{near}")
    reader.at = stop
    reader.refuse(_sentence(message, reader, first, is_cut=error.token is None))


def _index(reader: Reader, start: int) -> int:
    return next(at for at, token in enumerate(reader.piece.tokens) if token.start == start)


def _open_case(reader: Reader, first: int) -> int:
    """The last CASE in front that no END closes."""
    ends = 0
    for at in range(min(reader.at, len(reader.piece.tokens) - 1), first - 1, -1):
        key = reader.piece.tokens[at].key
        ends += key == "END"
        if key == "CASE":
            if not ends:
                return at
            ends -= 1
    return first


def _sentence(message: str, reader: Reader, first: int, *, is_cut: bool) -> str:
    """Our sentence; `is_cut` says that the tokens ended before the parser was done."""
    before = reader.piece.tokens[reader.at - 1].text if reader.at > first else ""
    after = f" after '{before}'" if before else ""
    found = reader.next_label
    if message.startswith("Expecting "):
        return f"expected '{message.removeprefix('Expecting ').rstrip('.')}'{after}, found {found}."
    if message.startswith("Expected table name"):
        return f"expected a table's name{after}, found {found}."
    if message.startswith("Expected TYPE"):
        return f"expected a type{after}, found {found}."
    if message.startswith("Expected "):
        return f"expected {message.removeprefix('Expected ')}, found {found}."
    if is_cut or message.startswith("Required argument"):
        return f"expected an expression{after}, found {found}."
    return f"{found} is not expected here{after}."
