"""A few rows of a table as text; bounded in rows, columns and length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.records.arrow.cell_text import cell_writer, is_number, values_of

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS_MAX = 60
_TEXT_MAX = 160


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column of the rows: its name, and whether it holds numbers."""

    name: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Rows as text, None for NULL; and how many columns were left out."""

    columns: list[RowColumn]
    rows: list[list[str | None]]
    left_out: int


def sample_rows(found: pa.Table) -> SampleRows:
    """Rows for a table of a page."""
    kept = found.select(range(min(found.num_columns, _COLUMNS_MAX)))
    texts = [_texts(column) for column in kept.columns]
    rows = [list(row) for row in zip(*texts, strict=True)] if texts else []
    columns = [RowColumn(field.name, is_number(field.type)) for field in kept.schema]
    return SampleRows(columns, rows, found.num_columns - kept.num_columns)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    write = cell_writer(column.type)
    return [None if value is None else _cut(write(value)) for value in values_of(column)]


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"
