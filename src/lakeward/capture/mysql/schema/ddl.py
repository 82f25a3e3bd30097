"""Statements that change tables, as far as columns are concerned."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.capture.mysql.cells.native_type import TEXTS, parse_native_type
from lakeward.capture.mysql.schema.ddl_tokens import Token, TokenReader, split_by_commas, tokens_of, unreadable
from lakeward.capture.mysql.schema.tables import NativeColumn
from lakeward.capture.port import TableId

_KIND = re.compile(
    r"(?:\s|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n|\()*(ALTER|CREATE|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE | re.DOTALL
)
_KEY_WORDS = {"PRIMARY", "UNIQUE", "INDEX", "KEY", "FULLTEXT", "SPATIAL", "FOREIGN", "CONSTRAINT", "CHECK", "PERIOD"}


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column as a statement defines it; `first` and `after` say where it stands."""

    column: NativeColumn
    is_key: bool = False
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new column."""

    definition: ColumnDefinition
    if_new: bool = False


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """Another definition for a column, perhaps under another name."""

    name: str
    definition: ColumnDefinition


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Another name for a column."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column that is gone."""

    name: str


@dataclass(frozen=True, slots=True)
class SetKey:
    """Another primary key, or none."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetComment:
    """What the table's comment is from here on."""

    comment: str


ColumnAction = AddColumn | ChangeColumn | RenameColumn | DropColumn | SetKey | SetComment


@dataclass(frozen=True, slots=True)
class CreateTable:
    """A new table; `like` another one, or with columns of its own. `is_partial`: a SELECT adds columns."""

    id: TableId
    definitions: tuple[ColumnDefinition, ...] = ()
    key: tuple[str, ...] = ()
    comment: str | None = None
    like: TableId | None = None
    if_new: bool = False
    is_replacing: bool = False


@dataclass(frozen=True, slots=True)
class AlterTable:
    """Actions on one table."""

    id: TableId
    actions: tuple[ColumnAction, ...]
    new_id: TableId | None = None


@dataclass(frozen=True, slots=True)
class DropTables:
    """Tables that are gone, or a whole database."""

    ids: tuple[TableId, ...] = ()
    database: str | None = None


@dataclass(frozen=True, slots=True)
class RenameTables:
    """Tables under new names, one after the other."""

    pairs: tuple[tuple[TableId, TableId], ...]


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """A table whose rows are gone."""

    id: TableId


TableStatement = CreateTable | AlterTable | DropTables | RenameTables | TruncateTable


def statement_kind(text: str) -> str | None:
    """The first word, if it is one of those that may change tables."""
    found = _KIND.match(text[:4096])
    return found[1].upper() if found else None


def parse_statement(text: str, database: str) -> TableStatement | None:
    """What a statement does to tables; None if nothing. An InvalidError if it cannot be read here."""
    reader = TokenReader(tokens_of(text))
    match reader.take().word:
        case "ALTER":
            return _alter(reader, database)
        case "CREATE":
            return _create(reader, database)
        case "DROP":
            return _drop(reader, database)
        case "RENAME":
            return _rename(reader, database)
        case "TRUNCATE":
            reader.accept("TABLE")
            return TruncateTable(table_id(reader, database))
        case _:
            return None


def target_table(text: str, database: str) -> TableId | None:
    """The table that an ALTER or CREATE names, of a statement whose rest could not be read."""
    reader = TokenReader(tokens_of(text))
    while not reader.is_done:
        if reader.take().word == "TABLE":
            _accept_if(reader)
            return table_id(reader, database)
    return None


def table_id(reader: TokenReader, database: str) -> TableId:
    """`name` or `database.name`."""
    first = reader.name()
    return TableId(first, reader.name()) if reader.accept(".") else TableId(database, first)


def _accept_if(reader: TokenReader) -> bool:
    return reader.accept("IF", "NOT", "EXISTS") or reader.accept("IF", "EXISTS")


def _create(reader: TokenReader, database: str) -> CreateTable | None:
    is_replacing = reader.accept("OR", "REPLACE")
    if not reader.accept("TABLE"):
        return None
    if_new = _accept_if(reader)
    id_ = table_id(reader, database)
    if reader.accept("LIKE"):
        return CreateTable(id_, like=table_id(reader, database), if_new=if_new, is_replacing=is_replacing)
    if reader.peek().raw != "(":
        raise unreadable(reader.peek().raw)
    inside = reader.group()
    if inside[0].word == "LIKE":
        like = table_id(TokenReader(inside[1:]), database)
        return CreateTable(id_, like=like, if_new=if_new, is_replacing=is_replacing)
    charset, comment = _table_options(reader)
    definitions, key = [], tuple[str, ...]()
    for part in split_by_commas(inside):
        of_key = _key_of(part)
        if of_key is not None:
            key = of_key or key
        else:
            definitions.append(_definition(TokenReader(part), charset))
    key = key or tuple(d.column.name for d in definitions if d.is_key)
    return CreateTable(id_, tuple(definitions), key, comment, None, if_new, is_replacing)


def _table_options(reader: TokenReader) -> tuple[str | None, str | None]:
    """The character set or collation of a table's texts, and its comment. A SELECT may add columns: not read here."""
    charset = comment = None
    while not reader.is_done:
        if reader.accept("PARTITION"):
            break
        if reader.peek().word in {"SELECT", "AS", "WITH"}:
            raise unreadable(reader.peek().raw)
        if reader.accept("CHARSET") or reader.accept("CHARACTER", "SET"):
            reader.accept("=")
            charset = charset or reader.name()
        elif reader.accept("COLLATE"):
            reader.accept("=")
            charset = reader.name()
        elif reader.accept("COMMENT"):
            reader.accept("=")
            comment = reader.take().text
        else:
            reader.take()
    return charset, comment


def _key_of(part: list[Token]) -> tuple[str, ...] | None:
    """The columns if the part defines a primary key, nothing if another key; None if it defines a column."""
    if part[0].word not in _KEY_WORDS:
        return None
    words = [token.word for token in part]
    if "PRIMARY" not in words[:3]:
        return ()
    opening = next(i for i, token in enumerate(part) if token.raw == "(")
    return tuple(names[0].text for names in split_by_commas(TokenReader(part[opening:]).group()))


def _definition(reader: TokenReader, charset: str | None = None) -> ColumnDefinition:
    """`name type attributes`."""
    name = reader.name()
    return _definition_of(name, reader, charset)


def _definition_of(name: str, reader: TokenReader, charset: str | None) -> ColumnDefinition:
    base = reader.name().lower()
    if base in {"national", "long", "char", "character"} and reader.peek().word in {"VARCHAR", "VARYING", "VARBINARY"}:
        base = "varbinary" if reader.take().word == "VARBINARY" else "varchar"
    elif base == "double":
        reader.accept("PRECISION")
    native = base
    if reader.peek().raw == "(":
        native += (
            f"({','.join(token.raw if token.kind != 'text' else _requote(token) for token in _no_commas(reader))})"
        )
    if base == "serial":
        native, nullable = "bigint unsigned", False
    else:
        nullable = True
    collation, comment, is_key, first, after = charset, None, False, False, None
    while not reader.is_done:
        if reader.peek().raw == "(":
            reader.group()
        elif reader.accept("NOT", "NULL"):
            nullable = False
        elif reader.accept("UNSIGNED") or reader.accept("ZEROFILL"):
            native += " unsigned" if "unsigned" not in native else ""
        elif reader.accept("COMPRESSED"):
            native += " compressed"
        elif reader.accept("CHARACTER", "SET") or reader.accept("CHARSET") or reader.accept("COLLATE"):
            collation = reader.name()
        elif reader.accept("COMMENT"):
            comment = reader.take().text
        elif reader.accept("PRIMARY") or (reader.peek().word == "KEY" and reader.peek(-1).word != "UNIQUE"):
            reader.accept("KEY")
            is_key, nullable = True, False
        elif reader.accept("FIRST"):
            first = True
        elif reader.accept("AFTER"):
            after = reader.name()
        else:
            reader.take()
    if collation and collation.lower() != "default" and parse_native_type(native).name in TEXTS:
        native += f" collate {collation.lower()}"
    return ColumnDefinition(NativeColumn(name, native, nullable, comment), is_key, first, after)


def _no_commas(reader: TokenReader) -> list[Token]:
    return [token for token in reader.group() if token.raw != ","]


def _requote(token: Token) -> str:
    return "'" + token.text.replace("'", "''") + "'"


def _alter(reader: TokenReader, database: str) -> AlterTable | None:
    while reader.accept("ONLINE") or reader.accept("OFFLINE") or reader.accept("IGNORE"):
        pass
    if not reader.accept("TABLE"):
        return None
    _accept_if(reader)
    id_ = table_id(reader, database)
    if reader.accept("WAIT"):
        reader.take()
    reader.accept("NOWAIT")
    rest = []
    while not reader.is_done:
        rest.append(reader.take())
    actions: list[ColumnAction] = []
    new_id = None
    for part in split_by_commas(rest):
        own = TokenReader(part)
        if part[0].word == "RENAME" and part[1].word not in {"COLUMN", "INDEX", "KEY"}:
            own.take()
            own.accept("TO") or own.accept("AS") or own.accept("=")
            new_id = table_id(own, database)
        else:
            actions += _actions(own)
    return AlterTable(id_, tuple(actions), new_id)


def _actions(reader: TokenReader) -> list[ColumnAction]:
    match reader.take().word:
        case "ADD":
            return _new_columns(reader)
        case "DROP":
            if reader.accept("PRIMARY", "KEY"):
                return [SetKey(())]
            if reader.peek().word in {*_KEY_WORDS, "PARTITION", "SYSTEM"}:
                return []
            reader.accept("COLUMN")
            _accept_if(reader)
            return [DropColumn(reader.name())]
        case "MODIFY":
            reader.accept("COLUMN")
            _accept_if(reader)
            definition = _definition(reader)
            return [ChangeColumn(definition.column.name, definition)]
        case "CHANGE":
            reader.accept("COLUMN")
            _accept_if(reader)
            return [ChangeColumn(reader.name(), _definition(reader))]
        case "RENAME":
            if not reader.accept("COLUMN"):
                return []
            name = reader.name()
            reader.accept("TO")
            return [RenameColumn(name, reader.name())]
        case "COMMENT":
            reader.accept("=")
            return [SetComment(reader.take().text)]
        case "CONVERT":
            raise unreadable("CONVERT")  # every text column has another character set: the server knows
        case _:
            return []


def _new_columns(reader: TokenReader) -> list[ColumnAction]:
    rest = []
    while not reader.is_done:
        rest.append(reader.take())
    key = _key_of(rest)
    if key is not None:
        return [SetKey(key)] if key else []
    own = TokenReader(rest)
    if own.peek().word in {"PARTITION", "SYSTEM"}:
        return []
    own.accept("COLUMN")
    if_new = _accept_if(own)
    if own.peek().raw == "(":
        return [AddColumn(_definition(TokenReader(part)), if_new) for part in split_by_commas(own.group())]
    return [AddColumn(_definition(own), if_new)]


def _drop(reader: TokenReader, database: str) -> DropTables | None:
    if reader.accept("DATABASE") or reader.accept("SCHEMA"):
        _accept_if(reader)
        return DropTables(database=reader.name())
    if not reader.accept("TABLE"):
        return None
    _accept_if(reader)
    ids = [table_id(reader, database)]
    while reader.accept(","):
        ids.append(table_id(reader, database))
    return DropTables(tuple(ids))


def _rename(reader: TokenReader, database: str) -> RenameTables | None:
    if not reader.accept("TABLE") and not reader.accept("TABLES"):
        return None
    _accept_if(reader)
    pairs = []
    while not reader.is_done:
        old = table_id(reader, database)
        if reader.accept("WAIT"):
            reader.take()
        reader.accept("NOWAIT")
        reader.accept("TO")
        pairs.append((old, table_id(reader, database)))
        reader.accept(",")
    return RenameTables(tuple(pairs))
