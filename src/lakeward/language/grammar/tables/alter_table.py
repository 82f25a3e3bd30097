"""ALTER TABLE: the changes that we know; others are Spark's."""

from __future__ import annotations

from lakeward.language.grammar.tables.columns import Columns, read_column
from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.partition import read_partition
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import (
    AddColumns,
    AlterTable,
    ChangePartition,
    RenameTable,
    ResetOptions,
    SetOptions,
    TableChange,
)
from lakeward.language.statements.statement import Statement

_WORDS: tuple[str, ...] = ("ADD", "ALTER", "CHANGE", "CLUSTER", "DROP", "MODIFY", "PARTITION", "RECOVER", "RENAME")
_WORDS += ("REPLACE", "RESET", "SET", "UNSET")
#: Where Spark's ADD COLUMN says more than ours.
_OF_SPARK = {"FIRST", "AFTER", "DEFAULT", "CONSTRAINT", "WATERMARK", "PRIMARY"}


def alter(reader: Reader) -> Statement:
    """ALTER TABLE, or an ALTER of Spark's."""
    what = reader.take_any(("ALTER",)) and reader.take_any(
        ("TABLE", "VIEW", "DATABASE", "SCHEMA", "NAMESPACE", "CATALOG", "STREAMING", "MATERIALIZED"), " after ALTER"
    )
    if what != "TABLE":
        return spark_statement(reader)
    if_exists = reader.exists("IF EXISTS")
    name = reader.full_name()
    if reader.key not in _WORDS:
        reader.take_any(_WORDS, f" after {name}")
    change = _read_change(reader)
    if change is None:
        return spark_statement(reader)
    reader.end()
    return AlterTable(**reader.head, name=name, change=change, if_exists=if_exists)


def _read_change(reader: Reader) -> TableChange | None:
    """The change; None if it is none of ours."""
    if reader.take("RENAME TO"):
        return RenameTable(reader.full_name())
    if reader.take("SET") and reader.comes("("):
        return SetOptions(read_options(reader))
    if reader.take("RESET"):
        return ResetOptions(_read_keys(reader))
    is_added = reader.take("ADD")
    if not is_added and not reader.take("DROP"):
        return None
    is_lenient = reader.exists("IF NOT EXISTS" if is_added else "IF EXISTS")
    if reader.comes("PARTITION"):
        return ChangePartition(is_added, read_partition(reader), is_lenient)
    return _read_added(reader) if is_added else None


def _read_keys(reader: Reader) -> tuple[str, ...]:
    reader.expect("(", " after RESET")
    keys = [reader.string("a key in single quotes")]
    while not reader.take(")"):
        if not reader.take(","):
            reader.refuse(f"expected ')' or ',' after '{keys[-1]}', found {reader.next_label}.")
        keys.append(reader.string("a key in single quotes"))
    return tuple(keys)


def _read_added(reader: Reader) -> AddColumns | None:
    if any(token.key in _OF_SPARK for token in reader.piece.tokens[reader.at :]):
        return None
    if not reader.take("COLUMN"):
        reader.take("COLUMNS")
    found = Columns()
    is_list = reader.take("(")
    read_column(reader, found)
    while reader.take(","):
        read_column(reader, found)
    if is_list and not reader.take(")"):
        reader.refuse(f"expected ')' or ',' after the column's type, found {reader.next_label}.")
    return AddColumns(tuple(found.columns))
