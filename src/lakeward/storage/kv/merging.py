"""Puts that need the rows: merge engines, partial updates, auto-increment columns. Record by record."""

from __future__ import annotations

import numpy as np

from lakeward.records.batch.kv_batch import KvBatch
from lakeward.records.kernels.spans import Spans
from lakeward.storage.kv.changes import Changes, values_of_rows
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.merge.changelog import Image, changes
from lakeward.storage.kv.merge.row_merger import Fate, RowMerger
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.kv.store.store import KvStore


def merge_rows(table: KvTable, store: KvStore, batch: KvBatch, merger: RowMerger) -> tuple[Slices, Slices, Changes]:
    """What a batch makes of the rows that are there: keys and new values in order, and the changes that says so.

    Nothing has happened to the store yet; an error means that nothing will.
    """
    keys = Slices(batch.data, batch.key_starts, batch.key_ends)
    arrived = values_of_rows(batch.data, batch.row_starts, batch.row_ends, batch.schema_id).to_list()
    names = [key or b"" for key in keys.to_list()]
    state = dict(zip(names, store.get(keys).to_list(), strict=True))
    image = Image(table.image)
    touched: list[bytes] = []
    values: list[bytes | None] = []
    kinds = bytearray()
    shown: list[bytes] = []  # no object for each change: the garbage collector would stop everybody to look at them
    for key, new in zip(names, arrived, strict=True):
        old = state[key]
        outcome = merger.delete(old) if new is None else merger.upsert(old, new)
        if outcome is Fate.KEEP:
            continue
        for change in changes(old, outcome, image):
            kinds.append(change.type)
            shown.append(change.value)
        state[key] = None if outcome is Fate.REMOVE else outcome
        touched.append(key)
        values.append(state[key])
    return Slices.of(touched), Slices.of(values), Changes(np.frombuffer(kinds, np.uint8), Spans.of(shown))
