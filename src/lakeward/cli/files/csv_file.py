"""CsvFile: CSV and TSV. Arrow reads the blocks; where it stumbles, the line is found and everything before it kept."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO

import pyarrow as pa
import pyarrow.csv as arrow_csv

from lakeward.cli.files.arrow_bytes import reader_of
from lakeward.cli.files.bad_row import BadRowError, rows_that_fit
from lakeward.cli.files.guesses import widen_schema
from lakeward.cli.files.line_blocks import (
    BLOCK_BYTES,
    RECORD_BYTES_MAX,
    Block,
    LineBlocks,
    text_of,
    whole_quoted_lines,
)
from lakeward.cli.files.row_shape import RowShape
from lakeward.cli.files.source import Source
from lakeward.model.schema import Schema
from lakeward.records.texts.misfits import MISFITS, misfit
from lakeward.records.texts.text_columns import column_of_texts

_DELIMITERS = ";\t|,"
_END = "end"


class CsvFile:
    """Rows of text, with the names of the columns in the first line unless it has none."""

    def __init__(
        self, source: Source, *, delimiter: str = ",", has_header: bool = True, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self._source = source
        self._delimiter = delimiter
        self._has_header = has_header
        self._blocks = LineBlocks(source, whole_quoted_lines, block_bytes)

    def progress(self) -> float | None:
        """The share that was read, from 0 to 1, if the size is known."""
        return self._source.progress()

    def inferred_schema(self) -> pa.Schema:
        """Names and types as the first rows suggest them."""
        first = self._blocks.peek()
        if first is None:
            raise BadRowError(self._source.name, "the file is empty, so there are no columns to see")
        first, unclosed = self._before_open_quote(first)
        names, rows = self._split_header(first)
        self._check_names(names)
        if not rows.data.strip() and unclosed is None:
            rows, unclosed = self._before_open_quote(self._blocks.peek(1) or rows)
        if not rows.data.strip():
            raise unclosed or BadRowError(self._source.name, "there are no rows, so there are no types to see")
        found = self._guess_rows(rows, names)
        if not names:
            found = found.rename_columns([f"column_{i + 1}" for i in range(found.num_columns)])
        return widen_schema(found)

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse to tell the types of a line that was not taken apart."""
        if other := self._other_delimiter(names):
            told = f"there is one column, {names[0]!r}. Is it separated by {other!r}? Say --delimiter {other!r}"
            raise BadRowError(f"{self._source.name}, line 1", told)

    def _other_delimiter(self, names: Sequence[str]) -> str | None:
        return next((c for c in _DELIMITERS if c != self._delimiter and len(names) == 1 and c in names[0]), None)

    def _guess_rows(self, rows: Block, names: Sequence[str]) -> pa.Table:
        """What the lines before the first broken one hold; what is wrong with that one, `batches` tells."""
        try:
            return self._read(rows.data, names or None)
        except pa.ArrowInvalid as wrong:
            before, problem = self._before_broken_line(rows, names or next(self._records(rows), []), str(wrong))
            if not before.data.strip():
                raise problem from wrong
            return self._read(before.data, names or None)

    def batches(self, schema: Schema) -> Iterator[pa.RecordBatch]:
        """The rows as the table wants them; ends with BadRowError at the first that does not fit."""
        shape = RowShape(schema)
        names: Sequence[str] = schema.names
        for number, read in enumerate(self._blocks):
            block, unclosed = self._before_open_quote(read)
            if unclosed is not None and not block.data.strip():
                raise unclosed
            if number == 0 and self._has_header:
                names, block = self._split_header(block)
                if wrong := shape.complaint(names):
                    raise BadRowError(f"{self._source.name}, line 1", wrong + self._hint(names, schema))
            yield from self._rows(block, names, shape)
            if unclosed is not None:
                raise unclosed

    def _hint(self, names: Sequence[str], schema: Schema) -> str:
        """What may be the matter with a line of names."""
        other = self._other_delimiter(names)
        if other is not None:
            return f". Is it separated by {other!r}? Say --delimiter {other!r}"
        known = set(schema.names)
        is_data = len(names) == len(schema.names) and not known.intersection(names)
        return ". If the first line holds values, not names, say --no-header" if is_data else ""

    def _split_header(self, block: Block) -> tuple[list[str], Block]:
        if not self._has_header:
            return [], block
        records = self._records(block)
        names = [name.strip() for name in next(records, [])]
        lines = records.line_num
        return names, _lines_from(block, lines)

    def _records(self, block: Block) -> _Records:
        return _Records(text_of(block, self._source.name), self._delimiter)

    def _rows(self, block: Block, names: Sequence[str], shape: RowShape) -> Iterator[pa.RecordBatch]:
        if not block.data.strip():
            return
        problem: BadRowError | None = None
        try:
            texts = self._read(block.data, names, as_text=True)
        except pa.ArrowInvalid as wrong:
            block, problem = self._before_broken_line(block, names, str(wrong))
            texts = self._read(block.data, names, as_text=True) if block.data.strip() else None
        if texts is not None:
            batches, misfitting = self._convert_block(block, texts, shape)
            yield from batches
            problem = misfitting or problem
        if problem is not None:
            raise problem

    def _convert_block(
        self, block: Block, texts: pa.Table, shape: RowShape
    ) -> tuple[list[pa.RecordBatch], BadRowError | None]:
        rows = texts.combine_chunks().to_batches()
        if not rows:
            return [], None
        (batch,) = rows
        try:
            return [_convert(batch, shape)], None
        except MISFITS:
            pass  # now it is worth finding out which row it is
        good = rows_that_fit(batch.num_rows, lambda n: _convert(batch.slice(0, n), shape))
        why = _why(batch.slice(good, 1), shape)
        line = block.first_line + self._line_of_record(block, good)
        wrong = BadRowError(f"{self._source.name}, line {line}", why)
        return ([_convert(batch.slice(0, good), shape)] if good else []), wrong

    def _read(self, data: bytes, names: Sequence[str] | None, *, as_text: bool = False) -> pa.Table:
        types = {name: pa.string() for name in names or ()} if as_text else None
        return arrow_csv.read_csv(
            reader_of(data),
            read_options=arrow_csv.ReadOptions(
                column_names=names, autogenerate_column_names=names is None, block_size=BLOCK_BYTES
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )

    def _before_open_quote(self, block: Block) -> tuple[Block, BadRowError | None]:
        """The records before one whose quote the file does not close: it would swallow all rows after it."""
        if block.data.count(b'"') % 2 == 0:
            return block, None
        text = text_of(block, self._source.name)
        *_, (fields, start) = _Records(f"{text}\n{_END}", self._delimiter).with_line_starts()
        if fields == [_END]:
            return block, None  # a quote within a plain text, as in 5" pipe
        line = block.first_line + text.count("\n") + 1 - fields[-1].count("\n")
        why = f"the quote that begins in line {line} is never closed"
        return _lines_before(block, start), BadRowError(self._source.name, why)

    def _before_broken_line(self, block: Block, names: Sequence[str], arrow: str) -> tuple[Block, BadRowError]:
        """The lines before the one that has too few or too many fields, or is not text."""
        for fields, start in self._records(block).with_line_starts():
            if fields and len(fields) != len(names):
                place = f"{self._source.name}, line {block.first_line + start}"
                why = f"there are {len(fields)} fields, and {len(names)} columns"
                return _lines_before(block, start), BadRowError(place, why)
        raise BadRowError(f"{self._source.name}, from line {block.first_line} on", arrow)

    def _line_of_record(self, block: Block, record: int) -> int:
        starts = (start for fields, start in self._records(block).with_line_starts() if fields)
        return next((start for i, start in enumerate(starts) if i == record), 0)


class _Records:
    """The records of a text, and the lines they start at, counted from 0."""

    def __init__(self, text: str, delimiter: str) -> None:
        csv.field_size_limit(RECORD_BYTES_MAX)
        self._reader = csv.reader(StringIO(text, newline="\n"), delimiter=delimiter)

    def __next__(self) -> list[str]:
        return next(self._reader)

    def __iter__(self) -> Iterator[list[str]]:
        return self

    @property
    def line_num(self) -> int:
        """Lines read so far."""
        return self._reader.line_num

    def with_line_starts(self) -> Iterator[tuple[list[str], int]]:
        """Each record with the line it starts at."""
        start = 0
        for fields in self._reader:
            yield fields, start
            start = self._reader.line_num


def _convert(texts: pa.RecordBatch, shape: RowShape) -> pa.RecordBatch:
    columns = {
        name: column_of_texts(texts.column(i), shape.schema.column(name)) for i, name in enumerate(texts.schema.names)
    }
    return shape.batch(columns, texts.num_rows)


def _why(row: pa.RecordBatch, shape: RowShape) -> str:
    for i, name in enumerate(row.schema.names):
        column, text = shape.schema.column(name), row.column(i)
        if text.null_count and not column.type.nullable:
            return misfit(column, None)
        try:
            column_of_texts(text, column)
        except MISFITS:
            return misfit(column, text[0].as_py())
    return "the row does not fit the table"


def _lines_before(block: Block, lines: int) -> Block:
    return Block(block.data[: _position(block.data, lines)], block.first_line)


def _lines_from(block: Block, lines: int) -> Block:
    return Block(block.data[_position(block.data, lines) :], block.first_line + lines)


def _position(data: bytes, lines: int) -> int:
    at = 0
    for _ in range(lines):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return len(data)
    return at
