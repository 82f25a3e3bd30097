"""Many changes → the last one of each key. In Arrow, never row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

_ROW = "__row"


def last_changes(changes: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The last row of each key, in the order of the log."""
    numbered = changes.select(keys).append_column(_ROW, pa.array(np.arange(changes.num_rows)))
    last = numbered.group_by(list(keys), use_threads=False).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
    if len(last) == changes.num_rows:
        return changes
    return changes.take(pa.array(np.sort(last.to_numpy())))
