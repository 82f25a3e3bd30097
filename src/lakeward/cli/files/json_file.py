"""JsonFile: JSON lines, one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from lakeward.cli.files.arrow_bytes import reader_of
from lakeward.cli.files.bad_row import BadRowError, rows_that_fit
from lakeward.cli.files.guesses import times_as_text, widen_schema
from lakeward.cli.files.line_blocks import BLOCK_BYTES, Block, LineBlocks, text_of, whole_lines
from lakeward.cli.files.row_shape import RowShape, in_quotes
from lakeward.cli.files.source import Source
from lakeward.model.schema import Schema
from lakeward.records.texts.json_columns import column_of_json, decoder_for
from lakeward.records.texts.misfits import MISFITS, misfit


class _Rows(NamedTuple):
    """Parsed rows, the line of each, and what is wrong with the one after them."""

    values: list[dict[str, Any]]
    lines: list[int]
    wrong: BadRowError | None


class JsonFile:
    """Objects whose keys are columns; a missing key is NULL."""

    def __init__(self, source: Source, block_bytes: int = BLOCK_BYTES) -> None:
        self._source = source
        self._blocks = LineBlocks(source, whole_lines, block_bytes)

    def progress(self) -> float | None:
        """The share that was read, from 0 to 1, if the size is known."""
        return self._source.progress()

    def inferred_schema(self) -> pa.Schema:
        """Names and types as the first rows suggest them."""
        import pyarrow.json as arrow_json

        first = self._blocks.peek()
        if first is None or not first.data.strip():
            raise BadRowError(self._source.name, "the file is empty, so there are no columns to see")
        self._check_not_array(first)
        data = self._readable_start(first)
        whole = arrow_json.ReadOptions(block_size=len(data) + 1)
        found = arrow_json.read_json(reader_of(data), read_options=whole)
        as_text = arrow_json.ParseOptions(explicit_schema=times_as_text(found.schema))
        found = arrow_json.read_json(reader_of(data), read_options=whole, parse_options=as_text)
        return widen_schema(found, times_are_text=True)

    def _readable_start(self, block: Block) -> bytes:
        """The lines before the first that Arrow cannot read; what is wrong with it, `batches` tells."""
        import pyarrow.json as arrow_json

        lines = [line for line in block.data.splitlines(keepends=True) if line.strip()]

        def read(number: int) -> None:
            data = b"".join(lines[:number])
            arrow_json.read_json(reader_of(data), read_options=arrow_json.ReadOptions(block_size=len(data) + 1))

        good = rows_that_fit(len(lines), read)
        if not good:
            line = block.first_line + block.data.splitlines(keepends=True).index(lines[0])
            try:
                read(1)
            except pa.ArrowInvalid as wrong:
                raise BadRowError(f"{self._source.name}, line {line}", _why_not_json(lines[0], wrong)) from wrong
        return b"".join(lines[:good])

    def batches(self, schema: Schema) -> Iterator[pa.RecordBatch]:
        """The rows as the table wants them; ends with BadRowError at the first that does not fit."""
        shape = RowShape(schema)
        decoder = decoder_for(column.type for column in schema.columns)
        for number, block in enumerate(self._blocks):
            if number == 0:
                self._check_not_array(block)
            rows = self._parse(block, decoder, shape)
            yield from self._convert_rows(rows, shape)
            if rows.wrong is not None:
                raise rows.wrong

    def _check_not_array(self, block: Block) -> None:
        if block.data.lstrip().startswith(b"["):
            raise BadRowError(
                f"{self._source.name}, line {block.first_line}",
                "this is a JSON array; one object per line is needed, e.g. from `jq -c '.[]' FILE`",
            )

    def _parse(self, block: Block, decoder: json.JSONDecoder, shape: RowShape) -> _Rows:
        texts = text_of(block, self._source.name).split("\n")
        lines = [i for i, text in enumerate(texts, block.first_line) if text and not text.isspace()]
        full = [text for text in texts if text and not text.isspace()]
        try:
            values = decoder.decode(f"[{','.join(full)}]")  # much faster than line by line
        except ValueError:
            values = None
        if values is not None and len(values) == len(full) and _are_rows(values, shape):
            return _Rows(values, lines, None)
        return self._parsed_by_line(full, lines, decoder, shape)

    def _parsed_by_line(
        self, texts: Sequence[str], lines: Sequence[int], decoder: json.JSONDecoder, shape: RowShape
    ) -> _Rows:
        good = _Rows([], [], None)
        for text, line in zip(texts, lines, strict=True):
            try:
                value, why = decoder.decode(text), None
            except ValueError as wrong:
                value, why = None, f"not JSON: {wrong}"
            if why is None and not _are_rows([value], shape):
                why = _not_a_row(value, shape)
            if why is not None:
                return good._replace(wrong=BadRowError(f"{self._source.name}, line {line}", why))
            good.values.append(value)
            good.lines.append(line)
        return good

    def _convert_rows(self, rows: _Rows, shape: RowShape) -> Iterator[pa.RecordBatch]:
        if not rows.values:
            return
        try:
            yield _convert(rows.values, shape)
        except MISFITS:
            good = rows_that_fit(len(rows.values), lambda n: _convert(rows.values[:n], shape))
            if good:
                yield _convert(rows.values[:good], shape)
            place = f"{self._source.name}, line {rows.lines[good]}"
            raise BadRowError(place, _why(rows.values[good], shape)) from None


def _why_not_json(line: bytes, wrong: Exception) -> str:
    try:
        value = json.loads(line)
    except ValueError as broken:
        return f"not JSON: {broken}"
    if type(value) is dict:
        return f"the types of its columns cannot be told ({wrong}); create the table first"
    return f"a JSON object is needed, and this is a {type(value).__name__}"


def _are_rows(values: list[Any], shape: RowShape) -> bool:
    return all(type(v) is dict for v in values) and all(not shape.unknown(keys) for keys in set(map(tuple, values)))


def _not_a_row(value: Any, shape: RowShape) -> str:
    if type(value) is not dict:
        return f"a JSON object is needed, and this is a {type(value).__name__}"
    return f"the table has no column {in_quotes(shape.unknown(value))}; its columns are {in_quotes(shape.schema.names)}"


def _convert(rows: Sequence[dict[str, Any]], shape: RowShape) -> pa.RecordBatch:
    found = _columns(rows)
    columns = {c.name: column_of_json(found[c.name], c) for c in shape.schema.columns if c.name in found}
    return shape.batch(columns, len(rows))


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows turned on their side; at once where all have the same keys in the same order, as is usual."""
    keys = dict.fromkeys(map(tuple, rows))
    if len(keys) == 1:
        (names,) = keys
        return dict(zip(names, map(list, zip(*map(dict.values, rows), strict=True)), strict=True))
    return {name: [row.get(name) for row in rows] for name in {name for names in keys for name in names}}


def _why(row: dict[str, Any], shape: RowShape) -> str:
    for column in shape.schema.columns:
        value = row.get(column.name)
        if value is None and not column.type.nullable:
            return misfit(column, None)
        try:
            column_of_json([value], column)
        except MISFITS:
            return misfit(column, value)
    return "the row does not fit the table"
