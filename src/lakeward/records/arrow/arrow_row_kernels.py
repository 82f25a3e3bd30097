"""Arrow batches ↔ many rows of bytes: how the client writes upserts and reads lookups. Needs pyarrow and numba.

pyarrow writes its batch as a message, which is the form that kernels take, slices and offsets dealt with; and reads
the message that kernels make.
"""

from __future__ import annotations

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.columnar.columns import Columns, read_columns, write_message
from lakeward.records.columnar.row_kernels import RowForm, decode_rows
from lakeward.records.kernels.spans import I64, Spans


def columns_of_arrow(batch: pa.RecordBatch, schema: Schema) -> Columns:
    """The columns of a conformed batch."""
    message = memoryview(batch.serialize())
    return read_columns(message, 0, len(message), [c.type for c in schema.columns])


def arrow_of_columns(columns: Columns, schema: Schema) -> pa.RecordBatch:
    """The columns as a batch that users see."""
    message = bytearray()
    write_message(columns, None, message)
    return pa.ipc.read_record_batch(pa.py_buffer(message), arrow_schema(schema))


def arrow_of_rows(
    rows: Spans, schema: Schema, form: RowForm = RowForm.COMPACTED, column_counts: I64 | None = None
) -> pa.RecordBatch:
    """Rows as one batch; see `decode_rows` for the column counts."""
    return arrow_of_columns(decode_rows(rows, [c.type for c in schema.columns], form, column_counts), schema)
