"""Arrow batches ↔ many rows of bytes: how the client writes upserts and reads lookups. Needs pyarrow and numba.

pyarrow writes its batch as a message, which is the form that kernels take, slices and offsets dealt with; and reads
the message that kernels make.
"""

from __future__ import annotations

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.columnar.columns import Columns, read_columns, write_message
from lakeward.records.columnar.row_kernels import RowForm, decode_rows, encode_rows
from lakeward.records.kernels.spans import I64, Spans
from lakeward.records.key.key_encoding import KeyEncoding
from lakeward.records.key.key_rows import keys_of_columns


def columns_of_arrow(batch: pa.RecordBatch, schema: Schema) -> Columns:
    """The columns of a conformed batch."""
    message = memoryview(batch.serialize())
    return read_columns(message, 0, len(message), [c.type for c in schema.columns])


def arrow_of_columns(columns: Columns, schema: Schema) -> pa.RecordBatch:
    """The columns as a batch that users see."""
    message = bytearray()
    write_message(columns, None, message)
    return pa.ipc.read_record_batch(pa.py_buffer(message), arrow_schema(schema))


def rows_of_arrow(batch: pa.RecordBatch, schema: Schema, form: RowForm = RowForm.COMPACTED) -> Spans:
    """Each row of a conformed batch as bytes."""
    types = [c.type for c in schema.columns]
    return Spans.of_bounds(*encode_rows(columns_of_arrow(batch, schema), types, form))


def keys_of_arrow(batch: pa.RecordBatch, schema: Schema, positions: list[int], encoding: KeyEncoding) -> Spans:
    """The key of each row of a conformed batch."""
    return keys_of_columns(columns_of_arrow(batch, schema), [c.type for c in schema.columns], positions, encoding)


def arrow_of_rows(
    rows: Spans, schema: Schema, form: RowForm = RowForm.COMPACTED, column_counts: I64 | None = None
) -> pa.RecordBatch:
    """Rows as one batch; see `decode_rows` for the column counts."""
    return arrow_of_columns(decode_rows(rows, [c.type for c in schema.columns], form, column_counts), schema)
