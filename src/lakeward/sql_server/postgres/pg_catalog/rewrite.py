"""Questions about Postgres's catalog in words that DuckDB has: other schemas, no classes of types, no collations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token, literal, replace_pieces
from lakeward.sql_server.postgres.pg_catalog.macros import FUNCTIONS

_CATALOG, _INFORMATION = "pg_catalog", "information_schema"
#: Types that DuckDB does not have, and those that stand for them.
_TYPES = {
    "name": "VARCHAR",
    "char": "VARCHAR",
    "text": "VARCHAR",
    "regclass": "VARCHAR",
    "regtype": "VARCHAR",
    "regproc": "VARCHAR",
    "regrole": "VARCHAR",
    "regnamespace": "VARCHAR",
    "oid": "BIGINT",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "bool": "BOOLEAN",
}
_LOOKED_UP = {"regclass", "regtype", "regnamespace", "regproc"}
#: Functions that ask about the catalog, wherever they stand.
_ASKS = re.compile("pg_|has_.*_privilege|to_reg|(obj|col|shobj)_description|current_setting")
#: Lists whose first number has the place 0.
_VECTORS = {"indkey", "indclass", "indoption", "indcollation"}
#: Numbers of functions, which as a text are their names.
_PROCEDURES = {"typinput", "typoutput", "typreceive", "typsend"}
_PLAIN_LIST = re.compile(r"'\{[^{}'\\]+\}'")
_RENAMED = {"current_setting": "setting_of"}


def is_about_catalog(statement: SqlText) -> bool:
    """Whether it names anything of the catalog."""
    tokens = statement.tokens
    return any(
        token.name in {_CATALOG, _INFORMATION}
        or _is_table(token.name)
        or (token.name in _LOOKED_UP and at > 0 and tokens[at - 1].text == "::")
        or (_ASKS.match(token.name) is not None and _texts(tokens, at + 1, 1) == ["("])
        for at, token in enumerate(tokens)
        if token.kind in {"word", "quoted"}
    )


def rewrite(statement: SqlText, database: str | None) -> str:
    """The text for DuckDB; tables are visible that are in `database`, or all where it is None."""
    tokens = list(statement.tokens)
    changes: dict[int, tuple[int, str]] = {}
    ends = _ends_of_calls(tokens)
    at = 0
    while at < len(tokens):
        end, new = (at + 1, ends[at]) if at in ends else _piece(tokens, at, database)
        if new is not None:
            last = tokens[end - 1]
            changes[tokens[at].at] = last.at + len(last.text), new
        at = end
    return replace_pieces(statement.sql, changes)


def _piece(tokens: list[Token], at: int, database: str | None) -> tuple[int, str | None]:
    """What the tokens from here on become, and where the next ones begin; None for what stays."""
    token = tokens[at]
    if token.upper == "OPERATOR" and _texts(tokens, at + 1, 3)[:1] == ["("]:
        end = next(n for n in range(at, len(tokens)) if tokens[n].text == ")")
        return end + 1, " " + "".join(t.text for t in tokens[at + 2 : end] if t.name not in {_CATALOG, "."}) + " "
    if [t.upper for t in tokens[at : at + 4]] == ["=", "ANY", "(", "["]:
        return _in_list(tokens, at)
    if token.text == "=" and _is_text_list(tokens, at):
        words = tokens[at + 3].text[2:-2].replace('"', "").split(",")
        return at + 5, f" IN ({', '.join(map(literal, words))})"
    if token.upper == "COLLATE":
        return (at + 4 if _texts(tokens, at + 2, 1) == ["."] else at + 2), " "
    if token.kind == "text" and _is_pattern(tokens, at):
        return at + 1, _whole_pattern(token.text)
    if token.kind == "text" and _texts(tokens, at + 1, 1) == ["::"]:
        name, end = _type_name(tokens, at + 2)
        if name in _LOOKED_UP:
            return end, f"{_looked_up(name + '_oid', database)}{token.text})"
        if _texts(tokens, end, 2) == ["[", "]"] and _PLAIN_LIST.fullmatch(token.text):
            inner = token.text[2:-2].replace('"', "")
            return end + 2, f"string_split('{inner}', ',')::{_TYPES.get(name, name)}[]"
    if token.upper == "CAST" and _is_looked_up(tokens, at):
        return at + 6, f"{_looked_up(tokens[at + 4].name + '_oid', database)}{tokens[at + 2].text})"
    if token.upper == "AS" and at + 1 < len(tokens) and tokens[at + 1].name in _TYPES and _is_cast(tokens, at):
        return at + 2, f"AS {_TYPES[tokens[at + 1].name]}"
    if _is_alias_of_series(tokens, at):
        return at + 1, f"{token.text}({token.text})"
    if token.text == "[" and at and tokens[at - 1].name in _VECTORS:
        return at + 1, "[1 + "
    if token.name in _PROCEDURES and [t.name for t in tokens[at + 1 : at + 3]] == ["::", "text"]:
        return at + 3, f"pgc.procedure_name({token.text})"
    if _is_selected_series(tokens, at, token):
        return at + 1, "unnest(generate_series"
    if _is_row_of_array(tokens, at, token):
        return at + 1, "(SELECT string_to_array"
    if token.text == "::":
        name, end = _type_name(tokens, at + 1)
        return (end, f"::{_TYPES[name]}") if name in _TYPES else (at + 1, None)
    if token.kind not in {"word", "quoted"}:
        return at + 1, None
    if token.name in {_CATALOG, _INFORMATION} and _texts(tokens, at + 1, 1) == ["."]:
        return _qualified_name(tokens, at, database)
    is_behind_dot = at > 0 and tokens[at - 1].text == "."
    follows = (_texts(tokens, at + 1, 1) or [""])[0]
    if is_behind_dot or (token.kind == "quoted" and (follows == "(" or not _is_table(token.name))):
        return at + 1, None
    if token.name == "json_build_object":
        return at + 1, "json_object"
    if token.name in FUNCTIONS | _RENAMED.keys() and follows == "(":
        return _call(tokens, at, database)
    if _is_table(token.name) and follows not in {"(", "."} and not (at and tokens[at - 1].upper == "AS"):
        return at + 1, f"pgc.{token.text}"
    return at + 1, None


def _is_text_list(tokens: list[Token], at: int) -> bool:
    """Whether it is `= ANY('{a,b}')`."""
    if [t.upper for t in tokens[at + 1 : at + 3]] != ["ANY", "("] or _texts(tokens, at + 4, 1) != [")"]:
        return False
    return tokens[at + 3].kind == "text" and _PLAIN_LIST.fullmatch(tokens[at + 3].text) is not None


def _in_list(tokens: list[Token], at: int) -> tuple[int, str | None]:
    """`= ANY([…])` as `IN […]`, which DuckDB takes in a join as well."""
    depth = 0
    for end in range(at + 3, len(tokens)):
        depth += (tokens[end].text == "[") - (tokens[end].text == "]")
        if not depth:
            is_whole = _texts(tokens, end + 1, 1) == [")"]
            return (end + 2, " IN " + " ".join(_texts(tokens, at + 3, end - at - 2))) if is_whole else (at + 1, None)
    return at + 1, None


def _qualified_name(tokens: list[Token], at: int, database: str | None) -> tuple[int, str | None]:
    name = tokens[at + 2]
    if tokens[at].name == _INFORMATION and name.name not in FUNCTIONS:
        return at + 3, f"ischema.{name.text}"
    if name.name == "pg_get_keywords":
        return at + 5, "pgc.pg_keywords"
    if _texts(tokens, at + 3, 1) == ["("]:
        return _call(tokens, at + 2, database) if name.name in FUNCTIONS | _RENAMED.keys() else (at + 3, name.text)
    return at + 3, f"pgc.{name.text}"


def _call(tokens: list[Token], named: int, database: str | None) -> tuple[int, str | None]:
    """A call of a function of ours."""
    name = tokens[named].name
    if name == "pg_table_is_visible" and database is not None:
        return named + 2, f"pgc.is_in({literal(database)}, "
    if name == "to_regclass":
        return named + 2, _looked_up(name, database)
    return named + 1, f"pgc.{_RENAMED.get(name, name)}"


def _looked_up(function: str, database: str | None) -> str:
    """The begin of a call that looks for something by its name; tables without a schema are those of `database`."""
    if "regclass" not in function:
        return f"pgc.{function}("
    return f"pgc.{function}({'NULL' if database is None else literal(database)}, "


def _type_name(tokens: list[Token], at: int) -> tuple[str, int]:
    if _texts(tokens, at, 2)[1:] == ["."]:
        at += 2
    return (tokens[at].name if at < len(tokens) else ""), at + 1


def _texts(tokens: Sequence[Token], at: int, count: int) -> list[str]:
    return [token.text for token in tokens[at : at + count]]


def _is_looked_up(tokens: list[Token], at: int) -> bool:
    """Whether it is CAST('name' AS regclass), and the like."""
    part = tokens[at : at + 6]
    shape = [t.kind if n == 2 else t.upper for n, t in enumerate(part)]
    return shape[:4] == ["CAST", "(", "text", "AS"] and len(part) == 6 and part[4].name in _LOOKED_UP


def _is_cast(tokens: list[Token], at: int) -> bool:
    """Whether AS belongs to a CAST; else a name of a type behind it is one that somebody gives a column."""
    return _texts(tokens, at + 2, 1) == [")"]


def _is_alias_of_series(tokens: list[Token], at: int) -> bool:
    """Whether it names the rows of generate_series(…), which in Postgres are values by that name."""
    if tokens[at].kind != "word" or tokens[at].upper in {"ON", "WHERE", "AS", "JOIN", "LEFT", "ORDER", "CROSS"}:
        return False
    last = at - 2 if at and tokens[at - 1].upper == "AS" else at - 1
    if at < 3 or tokens[last].text != ")" or _texts(tokens, at + 1, 1) == ["("]:
        return False
    depth = 0
    for before in range(last, 0, -1):
        depth += (tokens[before].text == ")") - (tokens[before].text == "(")
        if not depth:
            return tokens[before - 1].name in {"generate_series", "unnest"} and not _is_selected(tokens, before - 1)
    return False


def _ends_of_calls(tokens: list[Token]) -> dict[int, str]:
    """What the brackets become behind calls that are put into something else."""
    found = dict[int, str]()
    for at, token in enumerate(tokens):
        if _is_selected_series(tokens, at, token):
            found[_end_of_call(tokens, at)] = "))"
        elif _is_row_of_array(tokens, at, token):
            end = _end_of_call(tokens, at)
            found[end] = f") AS {tokens[end + 1].text})"
        elif token.name == "generate_subscripts" and _texts(tokens, at + 1, 1) == ["("]:
            end = _end_of_call(tokens, at)
            if any(one.name in _VECTORS for one in tokens[at:end]):
                found[end] = ") - 1"
    return found


def _is_row_of_array(tokens: list[Token], at: int, token: Token) -> bool:
    """Whether it is `, string_to_array(…) s` behind FROM: in Postgres, a row whose only value is called s."""
    if token.name != "string_to_array" or not at or tokens[at - 1].text != "," or _is_selected(tokens, at):
        return False
    end = _end_of_call(tokens, at)
    return end + 1 < len(tokens) and tokens[end + 1].kind == "word"


def _is_selected_series(tokens: list[Token], at: int, token: Token) -> bool:
    """Whether it is a generate_series(…) among the columns of a SELECT: in Postgres, each value is a row."""
    return token.name == "generate_series" and _texts(tokens, at + 1, 1) == ["("] and _is_selected(tokens, at)


def _is_selected(tokens: list[Token], at: int) -> bool:
    """Whether it stands among the columns of a SELECT."""
    depth = 0
    for before in reversed(tokens[:at]):
        depth += (before.text == ")") - (before.text == "(")
        if depth < 0 or (not depth and before.upper in {"SELECT", "FROM"}):
            return before.upper == "SELECT"
    return False


def _end_of_call(tokens: list[Token], at: int) -> int:
    """The bracket that closes a call."""
    depth = 0
    for end in range(at + 1, len(tokens)):
        depth += (tokens[end].text == "(") - (tokens[end].text == ")")
        if not depth:
            return end
    return len(tokens)


def _is_pattern(tokens: list[Token], at: int) -> bool:
    """Whether it stands behind `~` or `!~`, or behind OPERATOR(pg_catalog.~)."""
    before = _texts(tokens, max(at - 2, 0), min(at, 2))
    return before[-1:] == ["~"] or before == ["~", ")"]


def _whole_pattern(text: str) -> str:
    """The pattern for a match of the whole text, which is what DuckDB's `~` does."""
    inner = text[1:-1]
    inner = inner if inner.startswith("^") else f".*{inner}"
    return f"'{inner}'" if inner.endswith("$") else f"'{inner}.*'"


def _is_table(name: str) -> bool:
    return name.startswith("pg_") and name not in FUNCTIONS and not name.startswith("pg_get_")
