"""Rows as CSV: NULL is an empty field, an empty text is two quotes, bytes are base64, as files of `lakeward append`."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from lakeward.records.arrow.cell_text import cell_writer, values_of

_ROWS_AT_ONCE = 1000


def csv_lines(rows: pa.Table) -> Iterator[str]:
    """The header, then pieces of many lines."""
    yield ",".join(map(_field, rows.schema.names)) + "\r\n"
    for at in range(0, rows.num_rows, _ROWS_AT_ONCE):
        part = rows.slice(at, _ROWS_AT_ONCE)
        columns = [_texts(column, field.type) for column, field in zip(part.columns, rows.schema, strict=True)]
        yield "".join(",".join(row) + "\r\n" for row in zip(*columns, strict=True))


def _texts(column: pa.ChunkedArray, type_: pa.DataType) -> list[str]:
    try:
        values, write = values_of(column), cell_writer(type_)
    except (pa.ArrowException, ValueError, TypeError, NotImplementedError):  # types that only answers to SQL have
        values, write = [value if value.is_valid else None for value in column], str
    return ["" if value is None else _field(write(value)) for value in values]


def _field(text: str) -> str:
    if text and text == text.strip() and not any(c in text for c in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
