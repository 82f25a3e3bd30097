"""Rows on stdout, and back again."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
from arrow_strategies import TYPES, columns
from hypothesis import given

from lakeward.cli.files.formats import open_rows
from lakeward.cli.output.row_output import csv_field, row_output
from lakeward.model.schema import Schema


def _written(kind: str, table: pa.Table) -> str:
    out = io.StringIO()
    row_output(kind, table.schema, out).write(table)
    return out.getvalue()


def _read_back(kind: str, text: str, schema: Schema, directory: Path) -> pa.Table:
    path = directory / f"rows.{kind}"
    path.write_bytes(text.encode())
    return pa.Table.from_batches(open_rows(str(path)).batches(schema))


@given(columns(TYPES))
def test_json_lines_are_read_back_as_they_were(tmp_path_factory, drawn: tuple[Schema, pa.Table]) -> None:  # type: ignore[no-untyped-def]
    """What `tail -o json` writes, `append` reads as the same values, whatever the type."""
    schema, table = drawn
    text = _written("json", table)
    assert [json.loads(line)["n"] for line in text.split("\n")[:-1]] == table["n"].to_pylist()
    assert _read_back("json", text, schema, tmp_path_factory.mktemp("j")).equals(table)


@given(columns(TYPES))
def test_csv_is_read_back_as_it_was(tmp_path_factory, drawn: tuple[Schema, pa.Table]) -> None:  # type: ignore[no-untyped-def]
    """What `tail -o csv` writes, `append` reads as the same values, NULL and "" apart."""
    schema, table = drawn
    assert _read_back("csv", _written("csv", table), schema, tmp_path_factory.mktemp("c")).equals(table)


def test_table_output_shows_every_row() -> None:
    """A table has a header and a line per row."""
    assert _written("table", pa.table({"a": [1, None], "b": ["x", "y"]})).splitlines() == [
        "   a  b",
        "   1  x",
        "NULL  y",
    ]


def test_csv_fields_are_quoted_only_where_they_must_be() -> None:
    """Plain values stay plain."""
    assert [csv_field(t) for t in ["a b", "a,b", 'a"b', "", " a", "a\n"]] == [
        *("a b", '"a,b"', '"a""b"', '""', '" a"', '"a\n"')
    ]
