"""Many changes → the last one of each key. In Arrow, never row by row."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

_ROW = "__row"
# Arrow groups rows where they lie, and warns on stderr that they could lie straighter: whose frame they came in says.
os.environ.setdefault("ACERO_ALIGNMENT_HANDLING", "ignore")


def last_changes(changes: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The last row of each key, in the order of the log."""
    if _ascends(changes, keys):
        return changes
    numbered = changes.select(keys).append_column(_ROW, pa.array(np.arange(changes.num_rows)))
    last = numbered.group_by(list(keys), use_threads=False).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
    if len(last) == changes.num_rows:
        return changes
    return changes.take(pa.array(np.sort(last.to_numpy())))


def _ascends(changes: pa.Table, keys: Sequence[str]) -> bool:
    """Whether no key can be there twice, since each is greater than the one before it: seen without a hash table."""
    if len(keys) != 1 or not pa.types.is_integer(changes.schema.field(keys[0]).type) or changes[keys[0]].null_count:
        return False
    values = changes[keys[0]].to_numpy()
    return bool((values[1:] > values[:-1]).all())
