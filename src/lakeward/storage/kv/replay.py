"""The changelog played back into a store: what happened since a snapshot, or since the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from lakeward.records.batch.changelog_batch import changelog_rows
from lakeward.records.batch.log_batch import BatchSpan, walk_batches
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.storage.kv.changes import values_of_rows
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.put_kernels import DELETE, UPDATE_BEFORE
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.kv.store.store import KvStore
from lakeward.storage.log.log_tablet import LogTablet

_PIECE_BYTES = 8 << 20


def replay_pieces(log: LogTablet, store: KvStore, table: KvTable, from_offset: int) -> Iterator[Callable[[], None]]:
    """Every change from an offset to the end of the log: to be applied piece by piece, on any thread but in order.

    The log is read by whoever iterates.
    """
    offset = from_offset
    while offset < log.end_offset:
        data = log.read(offset, _PIECE_BYTES, at_least_one=True).data
        spans = list(walk_batches(data))
        offset = spans[-1].header.last_offset + 1
        yield partial(_apply_all, store, table, data, [s for s in spans if s.header.last_offset >= from_offset])


def _apply_all(store: KvStore, table: KvTable, data: memoryview, spans: list[BatchSpan]) -> None:
    for span in spans:
        if span.header.record_count:
            _apply(store, table, data[span.start : span.end], span.header.schema_id)


def _apply(store: KvStore, table: KvTable, batch: memoryview, schema_id: int) -> None:
    schema = table.schema(schema_id)
    found = changelog_rows(
        batch,
        [column.type for column in schema.columns],
        table.key_positions,
        log_format=table.log_format,
        form=RowForm(table.kv_format),
        key_encoding=table.key_encoding,
    )
    wanted = np.flatnonzero(found.change_types != UPDATE_BEFORE)
    keys, rows = found.keys.take(wanted), found.rows.take(wanted)
    key_buffer, key_starts, key_ends = keys.in_one_buffer()
    row_buffer, row_starts, row_ends = rows.in_one_buffer()
    is_delete = found.change_types[wanted] == DELETE
    row_starts, row_ends = np.where(is_delete, -1, row_starts), np.where(is_delete, -1, row_ends)
    store.apply(Slices(key_buffer, key_starts, key_ends), values_of_rows(row_buffer, row_starts, row_ends, schema_id))
    store.maintain()
