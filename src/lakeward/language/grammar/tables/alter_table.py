"""ALTER TABLE: the changes that we know; others are Spark's, and said so of tables that are ours."""

from __future__ import annotations

from lakeward.language.grammar.tables.columns import Columns, read_column
from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.partition import read_partition
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import (
    AddColumns,
    AlterTable,
    ChangePartitions,
    OtherChange,
    RenameTable,
    ResetOptions,
    SetOptions,
    TableChange,
)
from lakeward.language.statements.statement import Statement

_WORDS: tuple[str, ...] = ("ADD", "ALTER", "CHANGE", "CLUSTER", "DROP", "MODIFY", "PARTITION", "RECOVER", "RENAME")
_WORDS += ("REPLACE", "RESET", "SET", "UNSET")
#: Words of an ADD that is more than a column at the end.
_MORE = ("FIRST", "AFTER", "DEFAULT")
_CLAUSES = {"CONSTRAINT", "WATERMARK", "PRIMARY", "UNIQUE", "DISTRIBUTION"}
_ANOTHER = "Create another table with what is wanted, and INSERT the rows INTO that."


def alter_table(reader: Reader) -> Statement:
    """What follows ALTER TABLE."""
    if_exists = reader.exists("IF EXISTS")
    name = reader.full_name()
    if reader.key not in _WORDS:
        reader.take_any(_WORDS, f" after {name}")
    change = _read_change(reader)
    if change is None:
        return spark_statement(reader)
    if not isinstance(change, OtherChange):
        reader.end()
    return AlterTable(**reader.head, name=name, change=change, if_exists=if_exists)


def _read_change(reader: Reader) -> TableChange | None:
    """The change; None if it is Spark's to understand."""
    if reader.take("RENAME TO"):
        return RenameTable(reader.full_name())
    if reader.take("SET") and reader.comes("("):
        return SetOptions(read_options(reader))
    if reader.take("RESET"):
        return ResetOptions(_read_keys(reader))
    word = reader.key
    if word not in {"ADD", "DROP", "MODIFY", "RENAME", "CHANGE"}:
        return None
    reader.at += 1
    if word not in {"ADD", "DROP"}:
        return _other(reader, word)
    is_added = word == "ADD"
    start = reader.at
    is_lenient = reader.exists("IF NOT EXISTS" if is_added else "IF EXISTS")
    if reader.comes("PARTITION"):
        return ChangePartitions(is_added, _read_partitions(reader), is_lenient)
    reader.at = start if not is_added else reader.at
    return _read_added(reader) if is_added else _other(reader, word)


def _other(reader: Reader, word: str) -> OtherChange:
    """A change of what is decided when a table is made, at the word behind the verb."""
    for passed in ("COLUMN", "COLUMNS", "(", "IF EXISTS"):
        reader.take(passed)
    what = f"{word} {reader.key}" if reader.key in _CLAUSES else f"{word} of a column"
    return OtherChange(
        f"{what} cannot be done: a table only gets further columns, at its end. {_ANOTHER}", reader.place()
    )


def _read_partitions(reader: Reader) -> tuple[tuple[tuple[str, str], ...], ...]:
    found = [read_partition(reader)]
    while reader.take(",") or reader.comes("PARTITION"):
        found.append(read_partition(reader))
    return tuple(found)


def _read_keys(reader: Reader) -> tuple[str, ...]:
    reader.expect("(", " after RESET")
    keys = [reader.string("a key in single quotes")]
    while not reader.take(")"):
        if not reader.take(","):
            reader.refuse(f"expected ')' or ',' after '{keys[-1]}', found {reader.next_label}.")
        keys.append(reader.string("a key in single quotes"))
    return tuple(keys)


def _read_added(reader: Reader) -> TableChange:
    if not reader.take("COLUMN"):
        reader.take("COLUMNS")
    found = Columns()
    is_list = reader.take("(")
    while True:
        if reader.key in _CLAUSES:
            why = f"ADD {reader.key} cannot be done: it is said when a table is made. {_ANOTHER}"
            return OtherChange(why, reader.place())
        read_column(reader, found)
        if reader.key in _MORE:
            why = f"{reader.key} cannot be done: columns are added at the end of a table. Leave it out."
            return OtherChange(why, reader.place())
        if not reader.take(","):
            break
    if is_list and not reader.take(")"):
        reader.refuse(f"expected ')' or ',' after the column's type, found {reader.next_label}.")
    return AddColumns(tuple(found.columns))
