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
    last = which_are_last(changes.select(list(keys)))
    return changes if last is None else changes.filter(pa.array(last))


def which_are_last(keys: pa.Table) -> NDArray[np.bool_] | None:
    """Of keys in the order of the log, the last of each; None says that each is there once."""
    if _ascends(keys):
        return None
    repeats = _repeats(keys)
    at = np.flatnonzero(repeats)
    if not len(at):
        return None
    numbered = keys.take(pa.array(at)).append_column(_ROW, pa.array(at))
    last = numbered.group_by(keys.column_names, use_threads=False).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
    if len(last) == len(at):
        return None
    kept = ~repeats
    kept[last.to_numpy()] = True
    return kept


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


def _ascends(keys: pa.Table) -> bool:
    """Whether no key can be there twice, since each is greater than the one before it: seen without a hash table."""
    if keys.num_columns != 1 or not pa.types.is_integer(keys.schema.field(0).type) or keys.column(0).null_count:
        return False
    values = keys.column(0).to_numpy()
    return bool((values[1:] > values[:-1]).all())
