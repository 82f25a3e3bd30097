"""Columns of a table: physical, computed and metadata columns, the key and the watermark among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeward.language.grammar.tables.column_types import read_type
from lakeward.language.grammar.tables.watermarks import read_watermark
from lakeward.language.grammar.text.lexer import Token
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.tree.trees import read_expression
from lakeward.language.statements.create_table import (
    ColumnDefinition,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
)


@dataclass(slots=True)
class Columns:
    """What stands in the brackets of CREATE TABLE."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    key_token: Token | None = None

    def check(self, reader: Reader) -> None:
        """Refuse a key or a watermark of a column that is not there."""
        names = {column.name for column in self.columns}
        for key in self.primary_key:
            if key not in names:
                reader.refuse(f"the primary key names '{key}', which is no column of the table.", self.key_token)
        if self.watermark is not None and self.watermark.column.split(".")[0] not in names:
            sentence = f"the watermark is for '{self.watermark.column}', which is no column of the table."
            reader.refuse_at(self.watermark.place, sentence)


def read_columns(reader: Reader) -> Columns:
    """The columns in brackets."""
    found = Columns()
    reader.expect("(")
    while True:
        what = _read_item(reader, found)
        if reader.take(")"):
            break
        if not reader.take(","):
            near = reader.near(["NOT", "PRIMARY", "METADATA", "COMMENT", "ENFORCED", "VIRTUAL"])
            reader.refuse(f"expected ')' or ',' after {what}, found {reader.next_label}.{near}")
    return found


def read_column(reader: Reader, found: Columns) -> None:
    """One column, added to those that were found."""
    token = reader.token
    name = reader.name("a column's name")
    if any(column.name == name for column in found.columns):
        reader.refuse(f"the column '{name}' is there already.", token)
    if reader.take("AS"):
        expression = read_expression(reader, _expression_end(reader))
        found.columns.append(ComputedColumn(name, expression, _take_comment(reader)))
        return
    type_ = read_type(reader)
    key: str | None = None
    is_virtual, comment = False, None
    while True:
        if reader.take("METADATA"):
            key = reader.string("the metadata key in single quotes") if reader.take("FROM") else name
            is_virtual = reader.take("VIRTUAL")
        elif reader.comes("PRIMARY"):
            if found.primary_key:
                reader.refuse("the primary key is declared already; for several columns write PRIMARY KEY (a, b).")
            reader.expect("PRIMARY KEY")
            found.primary_key = (name,)
            _take_enforced(reader)
        elif reader.comes("NOT"):
            reader.expect("NOT NULL", " after the column's type")
            type_ = type_.not_null()
        elif reader.comes("COMMENT"):
            comment = _take_comment(reader)
        else:
            break
    if key is None:
        found.columns.append(PhysicalColumn(name, type_, comment))
    else:
        found.columns.append(MetadataColumn(name, type_, key, is_virtual, comment))


def _read_item(reader: Reader, found: Columns) -> str:
    """One item of the list; what it was, as a message names it."""
    if reader.comes("PRIMARY KEY") or reader.comes("CONSTRAINT"):
        if reader.take("CONSTRAINT"):
            reader.name("the constraint's name")
        if found.primary_key:
            reader.refuse("the primary key is declared already.")
        found.key_token = reader.token
        reader.expect("PRIMARY KEY")
        found.primary_key = reader.names("a column's name in the primary key")
        _take_enforced(reader)
        return "the primary key"
    if _at_watermark(reader):
        reader.expect("WATERMARK FOR")
        if found.watermark is not None:
            reader.refuse("the watermark is declared already; a table has one.")
        found.watermark = read_watermark(reader, _expression_end(reader))
        return "the watermark"
    read_column(reader, found)
    return "the column's expression" if isinstance(found.columns[-1], ComputedColumn) else "the column's type"


def _at_watermark(reader: Reader) -> bool:
    """Whether a watermark comes, FOR misspelt or left out included, and no column of that name."""
    keys = [token.key for token in reader.piece.tokens[reader.at : reader.at + 4]]
    return keys[:1] == ["WATERMARK"] and keys[1:2] != ["AS"] and (keys[1:2] == ["FOR"] or "AS" in keys)


def _take_enforced(reader: Reader) -> None:
    if reader.take("NOT"):
        reader.expect("ENFORCED", " after PRIMARY KEY … NOT")
    elif reader.comes("ENFORCED"):
        reader.refuse("a primary key is not checked when rows come; expected NOT ENFORCED.")


def _take_comment(reader: Reader) -> str | None:
    return reader.string("the comment in single quotes") if reader.take("COMMENT") else None


def _expression_end(reader: Reader) -> int:
    """The number of the token that ends the expression in front: a comma, the closing bracket, or COMMENT 'text'."""
    depth = 0
    tokens = reader.piece.tokens
    for at in range(reader.at, len(tokens)):
        key = tokens[at].key
        if depth == 0 and key in {",", ")"}:
            return at
        if depth == 0 and key == "COMMENT" and at + 1 < len(tokens) and tokens[at + 1].kind == "text":
            return at
        depth += (key in {"(", "["}) - (key in {")", "]"})
    return len(tokens)
