"""CSV: what is written is read again."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
from arrow_strategies import LEAVES, columns
from hypothesis import given
from hypothesis import strategies as st

from lakeward.formats.door.registry import format_of
from lakeward.model.schema import Schema


@given(columns(LEAVES), st.sampled_from([",", ";", "\\t"]), st.sampled_from([None, "null", "\\N"]))
def test_what_is_written_is_read_again(made: tuple[Schema, pa.Table], delimiter: str, null: str | None) -> None:
    """Of every single value, NULL and the empty text told apart; Python's reader finds the same number of fields."""
    schema, table = made
    options = {"csv.field-delimiter": delimiter} | ({} if null is None else {"csv.null-literal": null})
    rows = table.combine_chunks().to_batches()[0]
    found = format_of("csv", schema, options)
    messages = found.encoder().encode(rows)
    for message in messages:
        (fields,) = csv.reader(
            io.StringIO((message or b"").decode(), newline=""), delimiter="\t" if delimiter == "\\t" else delimiter
        )
        assert len(fields) == 2
    read = found.decoder().decode(messages)
    assert read.bad == []
    assert read.rows.equals(rows), f"{messages}: {read.rows.to_pylist()}"
