"""Puts that need the rows: merge engines, partial updates, auto-increment columns.

Large batches go through a compiled loop where the merger has a program for it; the rest record by record.
"""

from __future__ import annotations

import numpy as np

from lakeward.records.batch.kv_batch import KvBatch
from lakeward.records.kernels.spans import Spans, read_only
from lakeward.storage.kv.auto_increment import AutoIncrement
from lakeward.storage.kv.changes import Changes, values_of_rows
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.merge.changelog import Image, changes
from lakeward.storage.kv.merge.row_merger import Fate, RowMerger
from lakeward.storage.kv.merge_loop import merge_kernels as kernels
from lakeward.storage.kv.merge_loop.cell_kernels import MORE_ROOM, OK
from lakeward.storage.kv.merge_loop.program import MergeProgram, program_of
from lakeward.storage.kv.merge_loop.row_kernels import ROW_BYTES, SCHEMA_ID
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.kv.store.store import KvStore

#: For fewer rows it takes longer to call the compiled loop than to do without.
_FEW_ROWS = 16

Merged = tuple[Slices, Slices, Changes]


def merge_rows(
    table: KvTable, store: KvStore, batch: KvBatch, merger: RowMerger, numbers: AutoIncrement | None = None
) -> Merged:
    """What a batch makes of the rows that are there: keys and new values in order, and the changes that says so.

    Nothing has happened to the store yet; an error means that nothing will. `numbers` are those that the merger gives
    to rows, if it does.
    """
    keys = Slices(batch.data, batch.key_starts, batch.key_ends)
    old = store.get(keys)
    if batch.record_count > _FEW_ROWS:
        program = program_of(merger, full_image=Image(table.image) is Image.FULL)
        if program is not None and (merged := merge_compiled(program, batch, old, numbers)) is not None:
            return merged
    return merge_one_by_one(table, batch, keys, old, merger)


def merge_compiled(program: MergeProgram, batch: KvBatch, old: Slices, numbers: AutoIncrement | None) -> Merged | None:
    """The same by the compiled loop; None when it would refuse the batch, or does not understand it."""
    count, settings = batch.record_count, program.settings
    settings[SCHEMA_ID] = batch.schema_id
    given = numbers.ahead(count) if numbers is not None and program.numbers_rows else np.zeros(0, np.int64)
    if program.numbers_rows and not len(given):
        return None
    records = np.stack((batch.key_starts, batch.key_ends, batch.row_starts, batch.row_ends))
    state = np.zeros((3, count), np.int64)
    state[0], state[1] = old.starts, old.ends
    slots = np.full(1 << (2 * count - 1).bit_length(), -1, np.int64)
    written, shown = np.empty((3, count), np.int64), np.empty((4, 2 * count), np.int64)
    progress = np.zeros(kernels.PROGRESS, np.int64)
    arrived = int((batch.row_ends - batch.row_starts).sum())
    out = np.empty(arrived + len(old.buffer) + count * 16 + int(settings[ROW_BYTES]), np.uint8)
    stored = read_only(old.buffer)  # one kind of array, so that the loop is compiled once
    widths, required = program.widths({batch.schema_id, *_schema_ids(old)}), program.required_bits(batch.schema_id)
    while True:
        status = kernels.merge(
            settings,
            widths,
            required,
            given,
            batch.data,
            records,
            slots,
            stored,
            state,
            out,
            written,
            shown,
            progress,
        )
        if status != MORE_ROOM:
            break
        more = np.empty(2 * len(out) + int(progress[kernels.NEEDED_BYTES]), np.uint8)
        more[: progress[kernels.USED_BYTES]] = out[: progress[kernels.USED_BYTES]]
        out = more
    if status != OK:
        return None
    if numbers is not None:
        numbers.use(int(progress[kernels.NUMBERS_USED]))
    touched, changed = int(progress[kernels.TOUCHED]), int(progress[kernels.CHANGES])
    which = written[0, :touched]
    keys = Slices(batch.data, batch.key_starts[which], batch.key_ends[which])
    kinds, sides = shown[0, :changed].astype(np.uint8), shown[1, :changed].astype(np.uint8)
    logged = Changes(kinds, Spans([old.buffer, out], shown[2, :changed], shown[3, :changed], sides))
    return keys, Slices(out, written[1, :touched], written[2, :touched]), logged


def _schema_ids(values: Slices) -> list[int]:
    """The schemas under which stored values were written."""
    starts = values.starts[values.starts >= 0]
    seen = np.zeros(1 << 16, np.bool_)
    seen[values.buffer[starts].astype(np.uint16) | values.buffer[starts + 1].astype(np.uint16) << 8] = True
    found: list[int] = np.flatnonzero(seen).tolist()
    return found


def merge_one_by_one(table: KvTable, batch: KvBatch, keys: Slices, old: Slices, merger: RowMerger) -> Merged:
    """The same in Python, which is the measure of it."""
    arrived = values_of_rows(batch.data, batch.row_starts, batch.row_ends, batch.schema_id).to_list()
    names = [key or b"" for key in keys.to_list()]
    state = dict(zip(names, old.to_list(), strict=True))
    image = Image(table.image)
    touched: list[bytes] = []
    values: list[bytes | None] = []
    kinds = bytearray()
    shown: list[bytes] = []  # no object for each change: the garbage collector would stop everybody to look at them
    for key, new in zip(names, arrived, strict=True):
        before = state[key]
        outcome = merger.delete(before) if new is None else merger.upsert(before, new)
        if outcome is Fate.KEEP:
            continue
        for change in changes(before, outcome, image):
            kinds.append(change.type)
            shown.append(change.value)
        state[key] = None if outcome is Fate.REMOVE else outcome
        touched.append(key)
        values.append(state[key])
    return Slices.of(touched), Slices.of(values), Changes(np.frombuffer(kinds, np.uint8), Spans.of(shown))
