"""Many changes → the last one of each key. In Arrow, never row by row."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.lake.rows.key_numbers import key_numbers

_ROW = "__row"
# Arrow groups rows where they lie, and warns on stderr that they could lie straighter: whose frame they came in says.
os.environ.setdefault("ACERO_ALIGNMENT_HANDLING", "ignore")


def last_changes(changes: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The last row of each key, in the order of the log."""
    if _ascends(changes, keys):
        return changes
    columns = changes.select(keys)
    repeats = _repeats(columns)
    at = np.flatnonzero(repeats)
    if not len(at):
        return changes
    numbered = columns.take(pa.array(at)).append_column(_ROW, pa.array(at))
    last = numbered.group_by(list(keys), use_threads=False).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
    if len(last) == len(at):
        return changes
    kept = ~repeats
    kept[last.to_numpy()] = True
    return changes.filter(pa.array(kept))


def _repeats(keys: pa.Table) -> NDArray[np.bool_]:
    """Which rows may have the key of another one; where keys are no numbers, any."""
    numbers = key_numbers(keys.columns)
    if numbers is None:
        return np.ones(keys.num_rows, np.bool_)
    order = np.argsort(numbers)
    numbers = numbers[order]
    same = np.flatnonzero(numbers[1:] == numbers[:-1])
    found = np.zeros(keys.num_rows, np.bool_)
    found[order[same]] = found[order[same + 1]] = True
    return found


def _ascends(changes: pa.Table, keys: Sequence[str]) -> bool:
    """Whether no key can be there twice, since each is greater than the one before it: seen without a hash table."""
    if len(keys) != 1 or not pa.types.is_integer(changes.schema.field(keys[0]).type) or changes[keys[0]].null_count:
        return False
    values = changes[keys[0]].to_numpy()
    return bool((values[1:] > values[:-1]).all())
