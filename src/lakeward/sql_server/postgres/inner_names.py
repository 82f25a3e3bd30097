"""Columns are called as Postgres calls them where DuckDB's name would be in the way.

Of inner questions, since an outer one asks `count` of `(SELECT count(*) …)`. And what is made of a parameter, since
DuckDB calls it by the value, and a client was told of its columns before it gave one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token, replace_pieces, statements_of

_ENDS = {"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"}
_ENDS |= {"UNION", "EXCEPT", "INTERSECT"}
#: Words with a bracket behind them that are no functions.
_NO_CALLS = {"NOT", "INTERVAL", "SELECT", "VALUES", "IN", "ANY", "ALL", "SOME"}
_BEHIND_CALLS = {"FILTER", "OVER", "WITHIN", "GROUP"}
#: What stands for several columns, if it is where an item begins.
_MANY = {"*", "COLUMNS"}
_NO_NAME = "?column?"
_OPEN, _CLOSE = {"(", "["}, {")", "]"}


def with_inner_names(statement: SqlText) -> SqlText:
    """The same with ` AS name` behind what DuckDB would call otherwise, unless somebody uses DuckDB's own names."""
    tokens = statement.tokens
    if any(token.kind == "quoted" and "(" in token.text for token in tokens):
        return statement
    changes: dict[int, tuple[int, str]] = {}
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.text == "(") - (token.text == ")")
        if depth and token.upper == "SELECT":
            changes |= _names(list(_items(tokens, at + 1)))
    return statements_of(replace_pieces(statement.sql, changes))[0] if changes else statement


def with_value_names(statement: SqlText) -> SqlText:
    """The same with ` AS name` behind what a SELECT lists and has no name, if there is a parameter in it."""
    tokens = statement.tokens
    listed = (item for at, t in enumerate(tokens) if t.upper == "SELECT" for item in _items(tokens, at + 1))
    ends = {item[-1].at + len(item[-1].text): item for item in listed if _is_made_of_value(item)}
    changes = {end: (end, f' AS "{_name_of(item) or _NO_NAME}"') for end, item in ends.items()}
    return statements_of(replace_pieces(statement.sql, changes))[0] if changes else statement


def _is_made_of_value(item: Sequence[Token]) -> bool:
    """Whether it has a parameter, and surely no name: a word behind a word may be one."""
    head = item[2:3] if [t.text for t in item[1:2]] == ["."] else item[:1]
    is_many = any(t.upper in _MANY for t in head)
    if is_many or all(t.kind != "parameter" for t in item) or [t.text for t in item[1:2]] == [":"]:
        return False
    before, last = item[-2] if len(item) > 1 else None, item[-1]
    if before is None or (last.kind not in {"word", "quoted"} and before.upper != "AS"):
        return True
    is_case = item[0].upper == "CASE" and last.upper == "END"
    return is_case or (before.kind == "sign" and before.text not in _CLOSE)


def _names(items: list[Sequence[Token]]) -> dict[int, tuple[int, str]]:
    given = [item[-1].name if len(item) > 1 and item[-2].upper == "AS" else None for item in items]
    plain = [item[-1].name if _is_column(item) else None for item in items]
    called = [_name_of(item) for item in items]
    count = Counter(one or other or third for one, other, third in zip(given, plain, called, strict=True))
    found = {}
    for item, name in zip(items, called, strict=True):
        if name is not None and count[name] == 1:
            end = item[-1].at + len(item[-1].text)
            found[end] = end, f' AS "{name}"'
    return found


def _items(tokens: Sequence[Token], at: int) -> Iterator[Sequence[Token]]:
    """What a SELECT lists, from the token behind it on."""
    if at < len(tokens) and tokens[at].upper in {"ALL", "DISTINCT"}:
        at += 1
        if [t.upper for t in tokens[at : at + 2]] == ["ON", "("]:
            at = _behind(tokens, at + 1)
    begin = at
    while at < len(tokens) and tokens[at].text not in _CLOSE and tokens[at].upper not in _ENDS:
        if tokens[at].text == ",":
            yield tokens[begin:at]
            begin = at + 1
        at = _behind(tokens, at) if tokens[at].text in _OPEN else at + 1
    yield tokens[begin:at]


def _name_of(item: Sequence[Token]) -> str | None:
    """What Postgres calls an expression without a name; None for what has one, or is called so by DuckDB, too."""
    if len(item) < 2:
        return None
    if item[0].upper == "CASE" and item[-1].upper == "END":
        return "case" if sum(t.upper == "CASE" for t in item) == sum(t.upper == "END" for t in item) == 1 else None
    cast = next((n for n, token in enumerate(item) if token.text == "::"), None)
    if cast is not None:
        is_bare = _is_column(item[:cast]) and all(
            t.kind == "word" or t.text in "()[],1234567890" for t in item[cast + 1 :]
        )
        return item[cast - 1].name if is_bare and "AS" not in {t.upper for t in item} else None
    first = 2 if len(item) > 3 and item[1].text == "." else 0
    name = item[first]
    if name.kind not in {"word", "quoted"} or item[first + 1].text != "(" or name.upper in _NO_CALLS:
        return None
    end = _behind(item, first + 1)
    if name.upper in {"CAST", "TRY_CAST"}:
        inner = item[first + 2 : end - 1]
        begin = next((n for n, token in enumerate(inner) if token.upper == "AS"), 0)
        return inner[begin - 1].name if end == len(item) and _is_column(inner[:begin]) else None
    while end < len(item) and item[end].upper in _BEHIND_CALLS:
        end = _behind(item, end + 1) if end + 1 < len(item) and item[end + 1].text == "(" else end + 1
        if item[end - 1].upper == "OVER":  # of a window that has a name
            end += 1
    return name.name if end == len(item) else None


def _is_column(item: Sequence[Token]) -> bool:
    """Whether it is a name alone, perhaps behind that of its table."""
    return len(item) % 2 == 1 and all(
        token.text == "." if n % 2 else token.kind in {"word", "quoted"} for n, token in enumerate(item)
    )


def _behind(tokens: Sequence[Token], at: int) -> int:
    """Behind the bracket that closes the one at a place."""
    depth = 0
    for n in range(at, len(tokens)):
        depth += (tokens[n].text in _OPEN) - (tokens[n].text in _CLOSE)
        if not depth:
            return n + 1
    return len(tokens)
