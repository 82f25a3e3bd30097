"""Envelopes: events of many tables as rows of one shape.

table         STRING   "space.name"
kind          STRING   rows | schema
rows          BIGINT   how many rows are in the payload
committed_ms  BIGINT   when the last of them was committed; NULL for rows of a snapshot
payload       BINARY   rows: an Arrow IPC stream, its first column `_change_type`, its metadata the table as JSON;
                       schema: the schema change as JSON
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.capture.json_forms import change_of_json, change_to_json, table_of_json, table_to_json
from lakeward.capture.port import ChangeKind, Event, SchemaChange, SourceTable, TableRows

CHANGE_TYPE = "_change_type"
ROWS, SCHEMA = "rows", "schema"
ENVELOPES = pa.schema(
    [
        ("table", pa.string()),
        ("kind", pa.string()),
        ("rows", pa.int64()),
        ("committed_ms", pa.int64()),
        ("payload", pa.binary()),
    ]
)

#: The words of `_change_type`, each at the number of its kind.
_WORDS = pa.array([None, *(kind.name.lower() for kind in ChangeKind)], pa.string())
_INSERT = pa.scalar("insert", pa.string())
_TABLE_KEY = b"lakeward.table"


def change_words(rows: TableRows) -> pa.Array:
    """What each row is, in words: insert, update_before, update_after, delete."""
    if rows.kinds is None:
        return pa.repeat(_INSERT, rows.rows.num_rows)
    return _WORDS.take(rows.kinds)


def change_kinds(words: pa.Array) -> pa.Array | None:
    """ChangeKinds of the words; None where all are inserts."""
    kinds = pc.index_in(words, _WORDS).cast(pa.uint8())
    return None if pc.all(pc.equal(kinds, ChangeKind.INSERT.value)).as_py() else kinds


def seal(events: Iterable[Event]) -> Iterator[pa.RecordBatch]:
    """Each event as a batch of one envelope."""
    for event in events:
        if isinstance(event, SchemaChange):
            payload = json.dumps(change_to_json(event)).encode()
            values: list[Any] = [str(event.id), SCHEMA, 0, None, payload]
        else:
            values = [str(event.table.id), ROWS, event.rows.num_rows, event.committed_ms, _rows_payload(event)]
        arrays = [pa.array([value], field.type) for value, field in zip(values, ENVELOPES, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=ENVELOPES)


def open_envelope(kind: str, payload: bytes, committed_ms: int | None = None) -> Event:
    """The event of an envelope."""
    if kind == SCHEMA:
        return change_of_json(json.loads(payload))
    with pa.ipc.open_stream(payload) as stream:
        table = _table_of_text(stream.schema.metadata[_TABLE_KEY])
        batch = stream.read_next_batch()
    rows = pa.RecordBatch.from_arrays(batch.columns[1:], schema=_bare(stream.schema))
    return TableRows(table, rows, change_kinds(batch.column(0)), committed_ms)


def _rows_payload(rows: TableRows) -> bytes:
    fields = [pa.field(CHANGE_TYPE, pa.string(), nullable=False), *rows.rows.schema]
    schema = pa.schema(fields, {_TABLE_KEY: _text_of_table(rows.table)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(pa.RecordBatch.from_arrays([change_words(rows), *rows.rows.columns], schema=schema))
    payload: bytes = sink.getvalue().to_pybytes()
    return payload


def _bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema(list(schema)[1:])


def _text_of_table(table: SourceTable) -> bytes:
    return json.dumps(table_to_json(table)).encode()


@lru_cache(maxsize=1000)
def _table_of_text(text: bytes) -> SourceTable:
    return table_of_json(json.loads(text))
