"""Keys as people write them on a command line, or keep them in files → a table of key columns.

5                   the value of a key of one column
id=5,day=2026-08-01 each column by its name
'{"id": 5, …}'      the same as JSON, where a value has a comma in it
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.files.sent_files import FileForm
from lakeward.cli.input.failures import Failure

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.cli.files.formats import RowFile
    from lakeward.model.schema import Column, Schema


def given_keys(texts: Sequence[str], files: Sequence[str], form: FileForm, columns: Sequence[Column]) -> pa.Table:
    """All keys of the command line and of the files, in that order."""
    import pyarrow as pa

    if not texts and not files:
        raise click.UsageError("Name a key, or a file with keys by --from.")
    pieces = [_key(text, columns) for text in texts]
    for _, rows in form.open(files):
        schema = _schema(rows, form, columns)
        pieces += [pa.Table.from_batches([batch]).select([c.name for c in columns]) for batch in rows.batches(schema)]
    return pa.concat_tables(pieces, promote_options="permissive")


def _schema(rows: RowFile, form: FileForm, columns: Sequence[Column]) -> Schema:
    """What a file of keys is read as: the key's columns as the table has them, and whatever else is in it."""
    from lakeward.model.schema import Schema
    from lakeward.records.arrow.arrow_types import schema_of_arrow

    if form.no_header:
        return Schema(tuple(columns))
    names = {column.name for column in columns}
    others = [c for c in schema_of_arrow(rows.inferred_schema()).columns if c.name not in names]
    return Schema((*columns, *others))


def _key(text: str, columns: Sequence[Column]) -> pa.Table:
    import pyarrow as pa

    from lakeward.records.texts.json_columns import column_of_json
    from lakeward.records.texts.misfits import MISFITS, misfit
    from lakeward.records.texts.text_columns import column_of_texts

    values, is_json = _values(text, columns)
    arrays = []
    for column in columns:
        if column.name not in values:
            raise Failure(f"The key {text!r} lacks '{column.name}'; write it as {_form(columns)}.")
        value = values[column.name]
        try:
            made = column_of_json([value], column) if is_json else column_of_texts(pa.array([value]), column)
        except MISFITS:
            name, equals, _ = text.partition("=")
            if equals and value == text:
                why = f"{name.strip()!r} is no column of the key; write it as {_form(columns)}"
            else:
                why = misfit(column, value)
            raise Failure(f"The key {text!r}: {why}.") from None
        arrays.append(made)
    return pa.table(arrays, names=[column.name for column in columns])


def _values(text: str, columns: Sequence[Column]) -> tuple[dict[str, Any], bool]:
    """The values by name, and whether they are JSON's rather than text."""
    if text.lstrip().startswith("{"):
        from lakeward.records.texts.json_columns import decoder_for

        try:
            found = decoder_for(c.type for c in columns).decode(text)
        except json.JSONDecodeError as wrong:
            raise Failure(f"The key {text!r} is not JSON: {wrong}.") from wrong
        return dict(found), True
    known = {column.name for column in columns}
    pairs = [part.partition("=") for part in text.split(",")]
    if all(equals and name.strip() in known for name, equals, _ in pairs):
        return {name.strip(): value for name, _, value in pairs}, False
    if len(columns) == 1:
        return {columns[0].name: text}, False
    raise Failure(f"{text!r} is not a key; write it as {_form(columns)}.")


def _form(columns: Sequence[Column]) -> str:
    pairs = ",".join(f"{c.name}=…" for c in columns)
    as_json = ", ".join(f'"{c.name}": …' for c in columns)
    return f"{pairs}, or as '{{{as_json}}}'"
