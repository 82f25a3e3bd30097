"""Changes taken back: a state that was read a little late becomes the state as of an earlier offset.

The first change of a key since that offset says what was there before it: nothing (`+I`), or the row that it carries
(`-U`, `-D`). A changelog without old rows (`+U` alone) does not say it; such keys keep the row they have now.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CHANGE, _ROW = "_change_type", "_row"
_INSERTED, _AFTER = "+I", "+U"


class Rollback:
    """What to take out of a bucket's present state, and what to put back."""

    def __init__(self, changes: pa.Table, primary_key: Sequence[str]) -> None:
        """`changes` of one bucket in the order of the log, with `_change_type`."""
        self._key = list(primary_key)
        first = changes.take(_first_of_each(changes.select(self._key)))
        told = first.filter(pc.not_equal(first[_CHANGE], _AFTER))
        self._touched = told.select(self._key)
        #: The rows that were there.
        self.restored: pa.Table = told.filter(pc.not_equal(told[_CHANGE], _INSERTED))

    def untouched_rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the present state that are as they were."""
        if not self._touched.num_rows:
            return rows
        keys = pa.Table.from_batches([rows]).select(self._key)
        numbered = keys.append_column(_ROW, pa.array(np.arange(rows.num_rows)))
        left = numbered.join(self._touched, self._key, join_type="left anti", use_threads=False)
        return rows.take(pa.array(np.sort(left[_ROW].to_numpy())))


def _first_of_each(keys: pa.Table) -> pa.Array:
    rows = pa.array(np.arange(keys.num_rows))
    # Fetched columns lie where they were received; the copy lies as Arrow's engine wants it.
    numbered = keys.take(rows).append_column(_ROW, rows)
    first = numbered.group_by(keys.column_names, use_threads=False).aggregate([(_ROW, "min")])[f"{_ROW}_min"]
    return pa.array(np.sort(first.to_numpy()))
