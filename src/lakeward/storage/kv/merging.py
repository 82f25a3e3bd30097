"""Puts that need the rows: merge engines, partial updates, auto-increment columns."""

from __future__ import annotations

from lakeward.records.kv_batch import KvBatch
from lakeward.storage.kv.changes import Changes
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.slices import Slices
from lakeward.storage.kv.store import KvStore


def merged(
    table: KvTable, store: KvStore, batch: KvBatch, target_columns: tuple[int, ...], *, overwrite: bool
) -> tuple[Slices, Slices, Changes] | None:
    """Keys, new values and changes of a batch whose rows are merged with what was there; None for a plain one."""
    del table, store, batch, target_columns, overwrite  # merge engines come next
    return None
