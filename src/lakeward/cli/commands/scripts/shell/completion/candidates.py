"""What could follow at a position: names where names are expected, options inside WITH (…), words elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lakeward.cli.commands.scripts.shell.completion.known_names import values_of
from lakeward.cli.commands.scripts.shell.completion.named_tables import TABLE_FOLLOWS, named_tables
from lakeward.cli.commands.scripts.shell.completion.position import Position
from lakeward.cli.commands.scripts.shell.completion.words import FIRST_WORDS, KEYWORDS, SHOWN_WORDS

if TYPE_CHECKING:
    from lakeward.cli.commands.scripts.shell.completion.known_names import KnownNames
    from lakeward.language.grammar.text.lexer import Token
    from lakeward.options.option import OptionTable

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


class Candidate(NamedTuple):
    """A text that could stand in place of the word, and what it is."""

    text: str
    kind: str


def candidates(position: Position, names: KnownNames) -> list[Candidate]:
    """Those that begin like the word, whatever its case."""
    match position.quote:
        case "'":
            found = _in_quotes(position, names)
        case "" | "`":
            found = _outside(position, names)
        case _:
            found = iter(())
    word = position.word.lower()
    return list(dict.fromkeys(one for one in found if one.text.lower().startswith(word) and one.text != position.word))


def _outside(position: Position, names: KnownNames) -> Iterator[Candidate]:
    before = [token.key for token in position.before]
    match before[-2:]:
        case _ if position.path:
            yield from _members(position, names)
        case []:
            yield from _words(FIRST_WORDS, position)
        case [*_, "SHOW"]:
            yield from _words(SHOWN_WORDS, position)
        case ["USE" | "DROP", "CATALOG"]:
            yield from _names(names.catalogs(), "catalog", position)
        case ["USE"]:
            yield from _names(names.databases(), "database", position)
            yield from _names(names.catalogs(), "catalog", position)
            yield from _words(("CATALOG",), position)
        case ["TABLES" | "VIEWS", "FROM" | "IN"] | ["DROP", "DATABASE"]:
            yield from _names(names.databases(), "database", position)
        case ["STOP", "JOB"]:
            yield from _names(names.jobs(), "job", position)
        case ["SET" | "RESET"]:
            yield from (Candidate(f"'{option.key}'", "setting") for option in names.settings())
        case ["CREATE" | "TEMPORARY", "TABLE" | "VIEW"] | ["EXISTS", _] if before[0] == "CREATE":
            return  # a new name
        case [*_, last] if last in TABLE_FOLLOWS or (last == "VIEW" and before[0] == "DROP"):
            yield from _tables(position, names)
        case _:
            yield from _expressions(position, names)


def _members(position: Position, names: KnownNames) -> Iterator[Candidate]:
    """What follows a dot: columns of an alias, tables of a database, databases of a catalog."""
    named = named_tables(position.statement)
    if len(position.path) == 1 and position.path[0] in named:
        yield from _names(names.columns(named[position.path[0]]), "column", position)
    if len(position.path) == 1 and position.path[0] in names.catalogs():
        yield from _names(names.databases(position.path[0]), "database", position)
    if position.last in TABLE_FOLLOWS or position.last in {"VIEW", ","}:
        yield from _names(names.tables(position.path), "table", position)


def _tables(position: Position, names: KnownNames) -> Iterator[Candidate]:
    yield from _names(names.tables(), "table", position)
    yield from _names(names.databases(), "database", position)
    yield from _names(names.catalogs(), "catalog", position)
    if position.last == "INTO" or position.last == "FROM":
        yield from _words(("TABLE",), position)


def _expressions(position: Position, names: KnownNames) -> Iterator[Candidate]:
    named = named_tables(position.statement)
    for parts in named.values():
        yield from _names(names.columns(parts), "column", position)
    yield from _names(named, "table", position)
    if position.quote:
        return
    for name in names.functions():
        yield Candidate(f"{_like(name, position.word)}(", "function")
    yield from _words(sorted(KEYWORDS), position)


def _in_quotes(position: Position, names: KnownNames) -> Iterator[Candidate]:
    """Keys and values: of SET, of WITH (…), of OPTIONS (…)."""
    before = position.before
    is_value = position.last == "="
    key = before[-2].value if is_value and len(before) > 1 else ""
    if position.first in {"SET", "RESET"}:
        yield from _option_texts(names.settings(), key, is_value=is_value)
        return
    opener = _opener(before)
    if opener is None or before[opener - 1].key not in {"WITH", "OPTIONS"}:
        return
    given = {
        before[at].value: before[at + 2].value for at in range(opener + 1, len(before) - 2) if before[at + 1].key == "="
    }
    is_catalog = [token.key for token in before[:2]] == ["CREATE", "CATALOG"]
    chooser = "type" if is_catalog else "connector"
    if key == chooser:
        known = names.catalog_types() if is_catalog else names.connectors()
        yield from (Candidate(f"{name}'", chooser) for name in known)
        return
    options = _options(before, opener, given.get(chooser), names, is_catalog=is_catalog)
    if not is_value and before[opener - 1].key == "WITH" and chooser not in given:
        yield Candidate(f"{chooser}'", "option")
    if options is not None:
        yield from (one for one in _option_texts(options, key, is_value=is_value) if one.text[:-1] not in given)


def _opener(tokens: Sequence[Token]) -> int | None:
    """The bracket that the cursor is in."""
    depth = 0
    for at in range(len(tokens) - 1, 0, -1):
        depth += (tokens[at].key == ")") - (tokens[at].key == "(")
        if depth < 0:
            return at
    return None


def _options(
    before: Sequence[Token], opener: int, chosen: str | None, names: KnownNames, *, is_catalog: bool
) -> OptionTable | None:
    if is_catalog:
        return names.options_of_catalog(chosen or "fluss")
    if before[opener - 1].key == "OPTIONS":
        named = list(named_tables(before[:opener]).values())
        return names.options_of_connector(names.connector_of(named[-1])) if named else None
    return names.options_of_connector(chosen or "fluss")


def _option_texts(options: OptionTable, key: str, *, is_value: bool) -> Iterator[Candidate]:
    if not is_value:
        yield from (Candidate(f"{option.key}'", "option") for option in options if not option.inert)
    elif (option := options.rows.get(options.canonical_key(key))) is not None:
        yield from (Candidate(f"{value}'", "value") for value in values_of(option))


def _names(found: Iterable[str], kind: str, position: Position) -> Iterator[Candidate]:
    for name in found:
        if position.quote:
            yield Candidate(f"{name}`", kind)
        else:
            yield Candidate(name if _PLAIN_NAME.fullmatch(name) else f"`{name}`", kind)


def _words(words: Iterable[str], position: Position) -> Iterator[Candidate]:
    if not position.quote:
        yield from (Candidate(_like(word, position.word), "") for word in words)


def _like(word: str, typed: str) -> str:
    """A keyword as the person writes them."""
    return word.lower() if typed and typed == typed.lower() else word
