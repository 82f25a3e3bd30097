"""Words that stand for the session: `current_user`, `version()`. DuckDB would answer them for itself."""

from __future__ import annotations

import re

from lakeward.runtime.version import VERSION
from lakeward.sql_server.postgres.codec.pg_types import UNKNOWN
from lakeward.sql_server.postgres.codec.sql_text import SqlText, Token, literal, replace_pieces, statements_of
from lakeward.sql_server.postgres.parameters import array_literal
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.variables import SERVER_VERSION, Variables

#: Functions that Postgres calls without brackets.
_BARE = {"current_user", "session_user", "user", "current_role", "current_catalog", "current_schema"}
#: Parts of a moment, as Postgres and as DuckDB write them.
_MOMENTS = {
    "YYYY": "%Y", "YY": "%y", "MONTH": "%B", "MON": "%b", "MM": "%m", "DDD": "%j", "DD": "%d", "DAY": "%A",
    "DY": "%a", "HH24": "%H", "HH12": "%I", "HH": "%I", "MI": "%M", "SS": "%S", "MS": "%g", "US": "%f", "AM": "%p",
    "PM": "%p", "IW": "%V", "IYYY": "%G", "TZ": "%Z",
}  # fmt: skip
_MOMENT = re.compile("|".join(sorted(_MOMENTS, key=len, reverse=True)), re.IGNORECASE)
#: What stands before an array that something is in, or not in.
_LISTED = re.compile(r"(?<![!<>])(=)ANY\($|(<>|!=)ALL\($")
#: What Postgres's EXPLAIN can be asked for.
_EXPLAINS = {"ANALYZE", "ANALYSE", "VERBOSE", "COSTS", "SETTINGS", "GENERIC_PLAN", "BUFFERS", "SERIALIZE", "WAL"}
_EXPLAINS |= {"TIMING", "SUMMARY", "MEMORY", "FORMAT"}
_BYTEA = re.compile(r"E?'\\{1,2}x((?:[0-9a-fA-F]{2})*)'")


def session_values(user: str, database: str, variables: Variables, backend: int) -> dict[str, str]:
    """Each such function, and the literal that it comes to."""
    schema = literal(variables.database or "public")
    return {
        "current_user": literal(user),
        "session_user": literal(user),
        "user": literal(user),
        "current_role": literal(user),
        "current_catalog": literal(database),
        "current_database": literal(database),
        "current_schema": schema,
        "version": literal(f"PostgreSQL {SERVER_VERSION} (Lakeward {VERSION})"),
        "pg_backend_pid": str(backend),
        "pg_is_in_recovery": "false",
        "txid_current": "1",
        "inet_server_addr": "NULL",
        "inet_client_addr": "NULL",
    }


def with_duck_spellings(statement: SqlText) -> SqlText:
    """What DuckDB would take for something else: `'\\x00ff'::bytea` are two bytes."""
    tokens, changes = statement.tokens, dict[int, tuple[int, str]]()
    for at, token in enumerate(tokens[:-2]):
        is_bytes = token.kind == "text" and tokens[at + 1].text == "::" and tokens[at + 2].name == "bytea"
        found = _BYTEA.fullmatch(token.text) if is_bytes else None
        if found is not None:
            end = tokens[at + 2]
            changes[token.at] = end.at + len(end.text), f"from_hex('{found[1]}')"
    changes |= _arrays(tokens) | _moment_texts(tokens) | _explain_options(tokens)
    return statements_of(replace_pieces(statement.sql, changes))[0] if changes else statement


def _explain_options(tokens: tuple[Token, ...]) -> dict[int, tuple[int, str]]:
    """EXPLAIN with what DuckDB knows of its options: whether it is run, and JSON."""
    if tokens[0].upper != "EXPLAIN" or len(tokens) == 1:
        return {}
    asked, end = dict[str, str](), 1
    if tokens[1].text == "(" and tokens[2].upper not in {"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("}:
        end = next((n for n, token in enumerate(tokens) if token.text == ")"), len(tokens) - 1) + 1
        name = ""
        for token in tokens[2 : end - 1]:
            if token.text == ",":
                name = ""
            elif name:
                asked[name] = token.upper.strip("'")
            else:
                name = token.upper
                asked[name] = ""
    else:
        while end < len(tokens) and tokens[end].upper in {"ANALYZE", "ANALYSE", "VERBOSE"}:
            asked[tokens[end].upper] = ""
            end += 1
    unknown = asked.keys() - _EXPLAINS
    if unknown:
        raise StateError("42601", f'unrecognized EXPLAIN option "{min(unknown).lower()}"')
    is_run = asked.get("ANALYZE", asked.get("ANALYSE", "OFF")) not in {"OFF", "FALSE", "0"}
    is_json = asked.get("FORMAT") == "JSON"
    last = tokens[end - 1]
    told = "EXPLAIN" + " ANALYZE" * is_run + " (FORMAT json)" * is_json
    return {tokens[0].at: (last.at + len(last.text), told)}


def _arrays(tokens: tuple[Token, ...]) -> dict[int, tuple[int, str]]:
    """Texts that are arrays by where they stand, as drivers send them: `= ANY('{1,2}')`, `'{1,2}'::int[]`."""
    changes = dict[int, tuple[int, str]]()
    for at, token in enumerate(tokens):
        if token.kind != "text" or token.text[:2] != "'{" or at + 1 >= len(tokens):
            continue
        before = "".join(t.upper for t in tokens[max(at - 4, 0) : at])
        behind = [t.text for t in tokens[at + 1 : at + 5]]
        text = token.text[1:-1].replace("''", "'")
        found = _LISTED.search(before)
        if found is not None and behind[:1] == [")"]:
            begin = tokens[at - (3 if found[1] == "=" else 4)]
            values = array_literal(text, UNKNOWN)[1:-1] or "SELECT NULL WHERE false"
            changes[begin.at] = tokens[at + 1].at + 1, f"{' ' if found[1] == '=' else ' NOT '}IN ({values})"
        elif behind[:1] == ["::"] and behind[2:] == ["[", "]"]:
            changes[token.at] = token.at + len(token.text), array_literal(text, UNKNOWN)
    return changes


def with_session_words(statement: SqlText, values: dict[str, str], variables: Variables) -> str:
    """The text with the values of these functions; columns of the same name, behind a dot, stay."""
    tokens, changes = statement.tokens, dict[int, tuple[int, str]]()
    for at, token in enumerate(tokens):
        if token.kind == "word" and token.name == "current_schemas":
            changes |= _schemas(tokens, at, variables)
        if token.kind == "word" and token.name == "current_setting":
            changes |= _setting(tokens, at, variables)
        if token.kind != "word" or token.name not in values:
            continue
        begin = at
        if at >= 2 and tokens[at - 1].text == ".":
            if tokens[at - 2].name != "pg_catalog":
                continue
            begin = at - 2
        is_called = [t.text for t in tokens[at + 1 : at + 3]] == ["(", ")"]
        if not is_called and (token.name not in _BARE or (tokens[at + 1 : at + 2] and tokens[at + 1].text in "(.")):
            continue
        if at and tokens[at - 1].upper == "AS":
            continue
        last = tokens[at + 2] if is_called else token
        # An answer is named after the function, as Postgres does it.
        changes[tokens[begin].at] = (
            last.at + len(last.text),
            values[token.name] + _alias(statement, begin, at, is_called),
        )
    return replace_pieces(statement.sql, changes)


def _moment_texts(tokens: tuple[Token, ...]) -> dict[int, tuple[int, str]]:
    """TO_CHAR of a moment with a form like 'YYYY-MM-DD', by the function that DuckDB has for it."""
    changes = dict[int, tuple[int, str]]()
    open_calls = list[int]()
    for at, token in enumerate(tokens):
        if token.text == "(":
            open_calls.append(at - 1)
        elif token.text == ")" and open_calls:
            begin, form = open_calls.pop(), tokens[at - 1]
            is_moment = form.kind == "text" and tokens[at - 2].text == "," and _MOMENT.search(form.text)
            if begin >= 0 and tokens[begin].name == "to_char" and is_moment:
                changes[tokens[begin].at] = tokens[begin].at + len("to_char"), "strftime"
                new = _MOMENT.sub(lambda found: _MOMENTS[found[0].upper()], form.text)
                changes[form.at] = form.at + len(form.text), new
    return changes


def _schemas(tokens: tuple[Token, ...], at: int, variables: Variables) -> dict[int, tuple[int, str]]:
    """Where tables are looked for; CURRENT_SCHEMAS of true has the catalog, too."""
    arguments = [token.upper for token in tokens[at + 1 : at + 4]]
    if arguments not in (["(", "TRUE", ")"], ["(", "FALSE", ")"]):
        return {}
    begin = at - 2 if at >= 2 and tokens[at - 1].text == "." else at
    names = ["pg_catalog"] * (arguments[1] == "TRUE") + [variables.database or "public"]
    return {tokens[begin].at: (tokens[at + 3].at + 1, f"[{', '.join(map(literal, names))}]")}


def _setting(tokens: tuple[Token, ...], at: int, variables: Variables) -> dict[int, tuple[int, str]]:
    """A setting that is asked for by its name, which each session answers for itself."""
    end = next((n for n in range(at, len(tokens)) if tokens[n].text == ")"), at)
    if tokens[at + 1 : at + 2] and tokens[at + 2 : at + 3] and tokens[at + 2].kind == "text":
        begin = at - 2 if at >= 2 and tokens[at - 1].text == "." else at
        is_bearable = any(token.upper == "TRUE" for token in tokens[at:end])
        value = variables.find(tokens[at + 2].text[1:-1]) if is_bearable else variables.get(tokens[at + 2].text[1:-1])
        return {tokens[begin].at: (tokens[end].at + 1, "NULL" if value is None else literal(value))}
    return {}


def _alias(statement: SqlText, begin: int, at: int, is_called: bool) -> str:
    """` AS name` where it is a column of the answer by itself."""
    tokens = statement.tokens
    before = tokens[begin - 1].upper if begin else ""
    after = at + (3 if is_called else 1)
    follows = tokens[after].upper if after < len(tokens) else ""
    is_alone = before in {"SELECT", ","} and follows in {"", ",", "FROM", "WHERE"}
    return f" AS {tokens[at].name}" if is_alone and begin <= _first_from(statement) else ""


def _first_from(statement: SqlText) -> int:
    return next((n for n, token in enumerate(statement.tokens) if token.upper == "FROM"), len(statement.tokens))
