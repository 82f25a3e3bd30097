"""A changelog folded by key: what is left of it when every change is applied. In Arrow, never row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Changes that are gathered before they are folded into the state.
_FOLD_ROWS = 1 << 20
_CHANGE, _BUCKET, _ROW = "_change_type", "_bucket", "_row"
_BEFORE, _DELETED = "-U", "-D"


class ChangelogFold:
    """The state so far, and changes that are not applied yet. Batches of one bucket come in the order of the log."""

    def __init__(self, schema: pa.Schema, primary_key: Sequence[str]) -> None:
        """`schema` has the columns of the table, `_bucket` and `_change_type`."""
        self._keys = [_BUCKET, *primary_key]
        self._state = schema.empty_table()
        self._new: list[pa.RecordBatch] = []
        self._new_rows = 0

    def add(self, changes: pa.RecordBatch) -> None:
        """Take changes."""
        self._new.append(changes)
        self._new_rows += changes.num_rows
        if self._new_rows >= max(_FOLD_ROWS, self._state.num_rows):
            self._fold()

    def state(self) -> pa.Table:
        """The rows that are left, metadata columns included."""
        self._fold()
        return self._state

    def _fold(self) -> None:
        rows = pa.concat_tables([self._state, pa.Table.from_batches(self._new, self._state.schema)])
        self._new, self._new_rows = [], 0
        rows = rows.filter(pc.not_equal(rows[_CHANGE], _BEFORE))
        numbered = rows.select(self._keys).append_column(_ROW, pa.array(np.arange(rows.num_rows)))
        last = numbered.group_by(self._keys, use_threads=False).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
        kept = rows.take(pa.array(np.sort(last.to_numpy())))
        self._state = kept.filter(pc.not_equal(kept[_CHANGE], _DELETED))
