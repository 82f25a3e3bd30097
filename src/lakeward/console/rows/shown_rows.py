"""Arrow rows → what a page shows of them.

A cell knows whether it is NULL, which no text is, and its value as text: times of TIMESTAMP_LTZ in UTC with a Z, those
of TIMESTAMP as they were written; bytes in hexadecimal digits; nested values as JSON. A long value is cut; `full` is
then what is shown on demand, up to a bound of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import schema_of_arrow
from lakeward.records.arrow.cell_text import cell_writer, hex_text, is_number, values_of

_SHOWN_LENGTH = 120
FULL_LENGTH_MAX = 20_000
#: Characters that a browser would not draw, as pictures of themselves.
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {127: 0x2421}


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """The head of a column: its name, its type as tables call it, and what has to be known of its times."""

    name: str
    type: str
    is_number: bool
    rule: str = ""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A value as text; `full` is more of it, where `text` is cut."""

    text: str
    is_null: bool = False
    full: str = ""

    def to_json(self) -> Any:
        """For scripts: null, a text, or a pair of texts."""
        if self.is_null:
            return None
        return [self.text, self.full] if self.full else self.text


@dataclass(frozen=True, slots=True)
class ShownRows:
    """A table of a page."""

    columns: list[ShownColumn]
    rows: list[list[ShownCell]]


def shown_rows(
    rows: pa.Table | pa.RecordBatch, schema: Schema | None = None, full_length_max: int = FULL_LENGTH_MAX
) -> ShownRows:
    """All of these rows; `schema` is the table's, which knows its types better than Arrow does."""
    cells = [
        shown_cells(column, full_length_max, field.type)
        for column, field in zip(rows.columns, rows.schema, strict=True)
    ]
    return ShownRows(shown_columns(rows.schema, schema), [list(row) for row in zip(*cells, strict=True)])


def shown_columns(arrow: pa.Schema, schema: Schema | None = None) -> list[ShownColumn]:
    """The heads of columns."""
    types = {} if schema is None else {column.name: str(column.type) for column in schema.columns}
    return [
        ShownColumn(field.name, types.get(field.name) or _type_text(field), is_number(field.type), _rule(field.type))
        for field in arrow
    ]


def shown_cells(column: pa.Array | pa.ChunkedArray, full_length_max: int, type_: pa.DataType) -> list[ShownCell]:
    """The cells of a column."""
    values, write = _texts(column, type_)
    return [
        ShownCell("NULL", is_null=True) if value is None else _cell(write(value), full_length_max) for value in values
    ]


def _texts(column: pa.Array | pa.ChunkedArray, type_: pa.DataType) -> tuple[Iterable[Any], Callable[[Any], str]]:
    try:
        return values_of(column), cell_writer(type_, hex_text)
    except (pa.ArrowException, ValueError, TypeError, NotImplementedError):  # types that only answers to SQL have
        return (None if not value.is_valid else value for value in column), str


def _cell(text: str, full_length_max: int) -> ShownCell:
    length = len(text)
    if length <= _SHOWN_LENGTH:
        return ShownCell(text.translate(_CONTROLS))
    full = text[:full_length_max].translate(_CONTROLS)
    if length > full_length_max:
        full += f"… (the first {full_length_max:,} of {length:,} characters)"
    return ShownCell(full[:_SHOWN_LENGTH] + "…", full=full)


def _type_text(field: pa.Field) -> str:
    try:
        return str(schema_of_arrow(pa.schema([field])).columns[0].type).removesuffix(" NOT NULL")
    except Exception:  # noqa: BLE001 - whatever it is, Arrow has a word for it
        return str(field.type)


def _rule(type_: pa.DataType) -> str:
    if pa.types.is_timestamp(type_):
        return "without a time zone" if type_.tz is None else "in UTC"
    return ""
