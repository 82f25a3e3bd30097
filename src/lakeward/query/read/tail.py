"""The tail of a changelog, laid over rows of the lake: old rows of changed keys leave, their last rows come.

Hashed: the keys of the tail are a set that each batch of the lake is looked up in, so that files stream through and
only the tail is held. The planner bounds it (TAIL_CHANGES_MAX); beyond, the server's own state is the quicker way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.lake.rows.last_changes import which_are_last
from lakeward.query.read.key_ranges import KeyRanges
from lakeward.query.read.key_set import KeySet

_CHANGE, _ROW = "_change_type", "__row"
_BEFORE, _DELETED = "-U", "-D"


class Tail:
    """The last change of each key in a stretch of a bucket's changelog."""

    def __init__(self, changes: pa.Table, keys: Sequence[str]) -> None:
        """`changes` in the order of the log, with `_change_type` and the key."""
        self._keys = list(keys)
        kinds = changes[_CHANGE]
        is_kept = _mask(pc.not_equal(kinds, _BEFORE))
        touched = changes.select(self._keys).filter(pa.array(is_kept))
        last = which_are_last(touched)
        if last is not None:
            touched = touched.filter(pa.array(last))
            is_kept[is_kept] = last
        self._touched = touched.combine_chunks()
        self._ranges = KeyRanges(self._touched)
        is_kept &= _mask(pc.not_equal(kinds, _DELETED))
        #: The rows that the changes led to. All columns are copied once, with their texts.
        self.rows: pa.Table = changes if is_kept.all() else changes.filter(pa.array(is_kept))

    @cached_property
    def _set(self) -> KeySet | None:
        return KeySet.of(self._touched)  # for rows that are looked at here; DuckDB has its own ways

    @property
    def keys(self) -> pa.Table:
        """The keys that have changed. New ones too: a compacted log may have lost that a key was there before."""
        return self._touched

    def may_be_in(self, file: Path) -> bool:
        """Whether a Parquet file can hold rows of keys that have changed."""
        return bool(self._touched.num_rows) and self._ranges.may_be_in(file)

    def _may_touch(self, rows: pa.RecordBatch) -> bool:
        (first, *_) = self._keys
        column = rows.column(first)
        if not pa.types.is_integer(column.type):  # of those the smallest and the largest are found quickly
            return True
        bounds = pc.min_max(column)
        return self._ranges.may_meet({first: (bounds["min"].as_py(), bounds["max"].as_py())})

    def untouched_rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows whose keys no change has."""
        if not self._touched.num_rows or not rows.num_rows:
            return rows
        held = None if self._set is None else self._set.holds(rows)
        if held is not None:
            return rows.filter(pa.array(~held)) if held.any() else rows
        if not self._may_touch(rows):
            return rows
        if len(self._keys) == 1 and not pa.types.is_floating(self._touched.schema.field(0).type):
            (key,) = self._keys
            known = self._touched[key].combine_chunks()
            return rows.filter(pc.invert(pc.is_in(rows.column(key), value_set=known)))
        keys = pa.Table.from_batches([rows.select(self._keys)]).cast(self._touched.schema)
        numbered = keys.append_column(_ROW, pa.array(np.arange(rows.num_rows)))
        left = numbered.join(self._touched, self._keys, join_type="left anti", use_threads=False)
        return rows.take(pa.array(np.sort(left[_ROW].to_numpy())))


def _mask(found: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which are so, to be written to; no row is without a kind."""
    return np.array(found, np.bool_)
