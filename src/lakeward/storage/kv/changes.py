"""A put as changes: which rows were inserted, replaced, deleted, and the changelog batch that says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lakeward.records.batch.changelog_batch import build_changelog_batch, build_row_changelog_batch
from lakeward.records.batch.value_batch import split_values
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.records.ipc.buffer_codecs import codec_of
from lakeward.records.kernels.spans import Spans
from lakeward.storage.kv import put_kernels
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.store.slices import U8, Slices


class Changes(NamedTuple):
    """Changes in order, each with the stored value (schema id and row) it shows."""

    kinds: U8
    values: Spans

    @classmethod
    def of(cls, kinds: U8, values: Slices) -> Changes:
        """Changes whose values lie in one buffer."""
        return cls(kinds, Spans([values.buffer], values.starts, values.ends))


def values_of_rows(rows: U8, starts: np.ndarray, ends: np.ndarray, schema_id: int) -> Slices:
    """Stored values for rows written under one schema; -1 (a delete) stays -1."""
    count = len(starts)
    size = int((ends - starts).sum()) + put_kernels.SCHEMA_ID_BYTES * count
    out = np.empty(size, np.uint8)
    places = np.empty((2, count), np.int64)
    put_kernels.put_values(rows, starts, ends, schema_id, out, places[0], places[1])
    return Slices(out, places[0], places[1])


def changes_of(old: Slices, new: Slices, *, full_image: bool, plain_updates: bool) -> Changes:
    """What became of each record of a batch."""
    room = 2 * len(old)
    kinds, sides, places = np.empty(room, np.uint8), np.empty(room, np.uint8), np.empty(room, np.int64)
    count = int(put_kernels.plan_changes(old.starts, new.starts, full_image, plain_updates, kinds, sides, places))
    kinds, sides, places = kinds[:count], sides[:count], places[:count]
    is_new = sides == put_kernels.NEW
    starts = np.where(is_new, new.starts[places], old.starts[places])
    ends = np.where(is_new, new.ends[places], old.ends[places])
    return Changes(kinds, Spans([old.buffer, new.buffer], starts, ends, sides))


def changelog_batch(table: KvTable, changes: Changes, writer_id: int, batch_sequence: int) -> bytearray:
    """The changelog batch of some changes; refuses rows that do not fit the table."""
    schema_ids, rows = split_values(changes.values)
    column_counts = None
    if len(schema_ids) and bool((schema_ids != table.schema_id).any()):
        widths = np.zeros(table.schema_id + 1, np.int64)
        for schema_id in np.unique(schema_ids):
            widths[schema_id] = len(table.schema(int(schema_id)).columns)
        column_counts = widths[schema_ids]
    form = RowForm(table.kv_format)
    if table.log_format == "ARROW":
        return build_changelog_batch(
            table.types,
            table.schema_id,
            changes.kinds,
            rows,
            form=form,
            column_counts=column_counts,
            writer_id=writer_id,
            batch_sequence=batch_sequence,
            codec=codec_of(table.compression, table.compression_level),
        )
    return build_row_changelog_batch(
        table.types,
        table.schema_id,
        changes.kinds,
        rows,
        form=form,
        log_form=RowForm(table.log_format),
        column_counts=column_counts,
        writer_id=writer_id,
        batch_sequence=batch_sequence,
    )
