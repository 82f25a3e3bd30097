"""Changelog batches: changes of a primary key table as its log stores them, written and read without Arrow.

    ARROW               header | change types, one byte each | Arrow message
    COMPACTED, INDEXED  header | records, each: length:i32 | change type:i8 | row
    no changes          header alone; it takes one offset and a sequence number

Rows come as spans of where they lie, old ones in the store and new ones in the request, and are turned into columns in
one pass. Heavy to import: numba comes along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER, BatchHeader, read_header, write_header
from lakeward.records.batch.log_batch import seal
from lakeward.records.columnar.columns import Columns, null_count, read_columns, write_message
from lakeward.records.columnar.row_kernels import RowForm, decode_rows, encode_rows
from lakeward.records.ipc.arrow_message import damage_error
from lakeward.records.ipc.buffer_codecs import BufferCodec
from lakeward.records.kernels.record_kernels import ALL_GOOD, CHANGE_TYPE_MAX, LENGTH_BYTES, cut_changes, put_changes
from lakeward.records.kernels.spans import I64, U8, Spans, read_only
from lakeward.records.key.key_encoding import KeyEncoding
from lakeward.records.key.key_rows import keys_of_columns

_MAGIC = 0
_SIZE_MAX = (1 << 31) - 1
_CHANGE_BYTES = 1

Batch = memoryview | bytes | bytearray


class ChangelogRows(NamedTuple):
    """A changelog batch, read for replay."""

    change_types: U8
    keys: Spans
    rows: Spans


def build_changelog_batch(
    types: Sequence[DataType],
    schema_id: int,
    change_types: U8,
    rows: Spans,
    *,
    form: RowForm = RowForm.COMPACTED,
    column_counts: I64 | None = None,
    writer_id: int = NO_WRITER,
    batch_sequence: int = NO_SEQUENCE,
    codec: BufferCodec | None = None,
) -> bytearray:
    """A batch of the ARROW log format. Rows are in the table's kv format; see `decode_rows` for the column counts."""
    batch = _head(schema_id, change_types, rows, writer_id, batch_sequence)
    if len(rows):
        columns = decode_rows(rows, types, form, column_counts)
        _refuse_nulls(columns, types)
        batch += np.ascontiguousarray(change_types, np.uint8).data
        write_message(columns, codec, batch)
    return _seal(batch)


def build_row_changelog_batch(
    types: Sequence[DataType],
    schema_id: int,
    change_types: U8,
    rows: Spans,
    *,
    form: RowForm = RowForm.COMPACTED,
    log_form: RowForm = RowForm.COMPACTED,
    column_counts: I64 | None = None,
    writer_id: int = NO_WRITER,
    batch_sequence: int = NO_SEQUENCE,
) -> bytearray:
    """A batch of the COMPACTED or INDEXED log format. All rows get the columns of `types`, missing ones as NULL."""
    batch = _head(schema_id, change_types, rows, writer_id, batch_sequence)
    if len(rows):
        columns = decode_rows(rows, types, form, column_counts)
        _refuse_nulls(columns, types)
        if log_form is not form or (column_counts is not None and (column_counts != len(types)).any()):
            rows = Spans.of_bounds(*encode_rows(columns, types, log_form))
        size = (LENGTH_BYTES + _CHANGE_BYTES) * len(rows) + int(rows.sizes.sum())
        at = len(batch)
        batch += bytes(size)
        put_changes(change_types, rows.starts, rows.ends, np.frombuffer(batch, np.uint8), at)
    return _seal(batch)


def changelog_rows(
    batch: Batch,
    types: Sequence[DataType],
    key_positions: Sequence[int],
    *,
    log_format: str = "ARROW",
    form: RowForm = RowForm.COMPACTED,
    key_encoding: KeyEncoding = KeyEncoding.COMPACTED,
) -> ChangelogRows:
    """Change types, keys and rows of one whole batch, rows in the kv format asked for.

    `types` are those of the batch's own schema. CORRUPT_RECORD when the batch is none of them.
    """
    header = read_header(batch)
    count, at = header.record_count, header.header_bytes + header.statistics_length
    if not count:
        return ChangelogRows(np.zeros(0, np.uint8), Spans.of([]), Spans.of([]))
    rows = None
    if log_format == "ARROW":
        change_types, columns = _arrow_changes(batch, header, at, types)
    else:
        log_form = RowForm(log_format)
        change_types, stored = _row_changes(batch, count, at)
        columns = decode_rows(stored, types, log_form)
        rows = stored if log_form is form else None
    if rows is None:
        rows = Spans.of_bounds(*encode_rows(columns, types, form))
    return ChangelogRows(change_types, keys_of_columns(columns, types, key_positions, key_encoding), rows)


def _arrow_changes(batch: Batch, header: BatchHeader, at: int, types: Sequence[DataType]) -> tuple[U8, Columns]:
    count = header.record_count
    message_at = at if header.append_only else at + count
    if count < 0 or message_at > len(batch):
        raise damage_error("its change types are cut off")
    columns = read_columns(batch, message_at, len(batch), types)
    if columns.rows != count:
        raise damage_error(f"it holds {columns.rows} rows, not {count}")
    change_types = np.zeros(count, np.uint8) if header.append_only else read_only(batch)[at:message_at]
    if change_types.max() > CHANGE_TYPE_MAX:
        raise damage_error(f"{change_types.max()} is no change type")
    return change_types, columns


def _row_changes(batch: Batch, count: int, at: int) -> tuple[U8, Spans]:
    array = read_only(batch)
    if not 0 <= count <= (len(batch) - at) // (LENGTH_BYTES + _CHANGE_BYTES):
        raise ErrorCode.CORRUPT_RECORD.error(f"The record batch is damaged: its bytes hold no {count} records.")
    change_types, places = np.empty(count, np.uint8), np.empty((2, count), np.int64)
    bad = cut_changes(array, at, change_types, places[0], places[1])
    if bad != ALL_GOOD:
        raise ErrorCode.CORRUPT_RECORD.error(f"The record batch is damaged: record {bad} of {count} does not fit.")
    return change_types, Spans([array], places[0], places[1])


def _head(schema_id: int, change_types: U8, rows: Spans, writer_id: int, batch_sequence: int) -> bytearray:
    count = len(rows)
    assert len(change_types) == count
    return bytearray(
        write_header(
            BatchHeader(
                base_offset=0,
                length=0,
                magic=_MAGIC,
                commit_timestamp_ms=0,
                crc=0,
                schema_id=schema_id,
                attributes=0,
                last_offset_delta=max(count - 1, 0),
                writer_id=writer_id,
                batch_sequence=batch_sequence,
                record_count=count,
            )
        )
    )


def _seal(batch: bytearray) -> bytearray:
    if len(batch) > _SIZE_MAX:
        raise ErrorCode.RECORD_TOO_LARGE.error(
            f"The changes of one batch take {len(batch)} bytes, over the limit of 2 GB; write fewer rows at once."
        )
    seal(batch)
    return batch


def _refuse_nulls(columns: Columns, types: Sequence[DataType]) -> None:
    """A NULL where the table allows none stops the batch before anything has changed."""
    for i, type_ in enumerate(types):
        if not type_.nullable and (nulls := null_count(columns, types, i)):
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column {i} of type {type_} must not be NULL; {nulls} rows have it NULL."
            )
