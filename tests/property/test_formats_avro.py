"""Avro: what is written is read again, whatever is done to it nothing is raised."""

from __future__ import annotations

import pyarrow as pa
from arrow_strategies import LEAVES, columns
from hypothesis import given
from hypothesis import strategies as st

from lakeward.formats.door.registry import format_of
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type

#: Python's datetimes end with microseconds, and so does Avro.
TYPES = [
    *(t for t in LEAVES if "(9)" not in t),
    "TIMESTAMP_LTZ(6)",
    "ARRAY<INT>",
    "ARRAY<DATE>",
    "MAP<STRING, BIGINT>",
    "ROW<a INT, b ARRAY<STRING>, t TIMESTAMP_LTZ(3), d DECIMAL(38, 18), r ROW<x DATE>>",
]
SCHEMA = Schema.of([("id", parse_type("BIGINT")), ("m", parse_type("MAP<STRING, STRING>"))])


@given(columns(TYPES), st.booleans())
def test_what_is_written_is_read_again(made: tuple[Schema, pa.Table], legacy: bool) -> None:
    """Of every type that Avro has."""
    schema, table = made
    rows = table.combine_chunks().to_batches()[0]
    found = format_of("avro", schema, {"avro.timestamp_mapping.legacy": str(legacy).lower()})
    messages = found.encoder().encode(rows)
    read = found.decoder().decode(messages)
    assert read.bad == []
    assert read.rows.equals(rows), f"{read.rows.to_pylist()}"


@given(st.lists(st.binary(max_size=20), max_size=4))
def test_any_bytes_are_rows_or_bad(messages: list[bytes]) -> None:
    """Each message is one or the other."""
    found = format_of("avro", SCHEMA, {}).decoder().decode(messages)
    assert sorted([*found.indexes.to_pylist(), *(bad.index for bad in found.bad)]) == list(range(len(messages)))
