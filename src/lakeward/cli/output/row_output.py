"""RowOutput: Arrow batches on stdout, as a table, CSV or JSON lines, as they come."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

from lakeward.cli.output.listing import page_rows, terminal_width
from lakeward.cli.output.plain_text import json_text, lines
from lakeward.cli.output.text_table import TableColumn, TextTable

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1000


class RowOutput(Protocol):
    """Takes batches of one schema and writes their rows."""

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Write some rows, at once and completely."""
        ...


def row_output(
    kind: str, schema: pa.Schema, out: TextIO | None = None, *, streams: bool = False, width: int | None = None
) -> RowOutput:
    """The output that `-o` names; `streams` when rows will keep coming, so that columns get room for them.

    `width` is that of the terminal, where `out` is not stdout but will be shown there.
    """
    stream = out or sys.stdout
    match kind:
        case "json":
            return _JsonRows(schema, stream)
        case "csv":
            return _CsvRows(schema, stream)
        case _:
            return _TableRows(schema, stream, streams=streams, width=width)


class _TableRows:
    def __init__(self, schema: pa.Schema, out: TextIO, *, streams: bool, width: int | None) -> None:
        from lakeward.records.arrow.cell_text import cell_writer, is_number, is_text, usual_width

        self._writers = [cell_writer(field.type) for field in schema]
        columns = [
            TableColumn(
                field.name,
                is_number=is_number(field.type),
                is_text=is_text(field.type),
                width=usual_width(field.type) if streams else 0,
            )
            for field in schema
        ]
        width = terminal_width() if out is sys.stdout else width
        self._table = TextTable(columns, out, width, page_rows() if streams and width else None)

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Write the rows under each other."""
        from lakeward.records.arrow.cell_text import values_of

        for at in range(0, rows.num_rows, _ROWS_AT_ONCE):
            part = rows.slice(at, _ROWS_AT_ONCE)
            texts = [
                [None if value is None else write(value) for value in values_of(column)]
                for column, write in zip(part.columns, self._writers, strict=True)
            ]
            self._table.write(list(zip(*texts, strict=True)))


class _JsonRows:
    def __init__(self, schema: pa.Schema, out: TextIO) -> None:

        from lakeward.records.arrow.cell_text import json_writer

        self._writers = [json_writer(field.type) for field in schema]
        self._heads = [json.dumps(field.name, ensure_ascii=False) + ": " for field in schema]
        self._out = out

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Write one JSON object per row and line."""
        from lakeward.records.arrow.cell_text import values_of

        for at in range(0, rows.num_rows, _ROWS_AT_ONCE):
            part = rows.slice(at, _ROWS_AT_ONCE)
            fields = [
                [head + write(value) for value in values_of(column)]
                for head, write, column in zip(self._heads, self._writers, part.columns, strict=True)
            ]
            self._out.write(json_text("".join("{" + ", ".join(row) + "}\n" for row in zip(*fields, strict=True))))
            self._out.flush()


class _CsvRows:
    def __init__(self, schema: pa.Schema, out: TextIO) -> None:
        from lakeward.records.arrow.cell_text import cell_writer

        self._writers = [cell_writer(field.type) for field in schema]
        self._names = schema.names
        self._has_header = False
        self._write_text = lines if out.isatty() else str
        self._out = out

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Write one line per row; NULL is an empty field, an empty text is `""`."""
        from lakeward.records.arrow.cell_text import values_of

        if not self._has_header:
            self._line([csv_field(name) for name in self._names])
            self._has_header = True
        for at in range(0, rows.num_rows, _ROWS_AT_ONCE):
            part = rows.slice(at, _ROWS_AT_ONCE)
            texts = [
                ["" if value is None else csv_field(write(value)) for value in values_of(column)]
                for column, write in zip(part.columns, self._writers, strict=True)
            ]
            for row in zip(*texts, strict=True):
                self._line(row)
            self._out.flush()

    def _line(self, fields: Sequence[str]) -> None:
        self._out.write(self._write_text(",".join(fields)) + "\n")


def csv_field(text: str) -> str:
    """The text as a field of a CSV line, quoted where it must be."""
    if text and not any(c in text for c in ',"\r\n') and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'
