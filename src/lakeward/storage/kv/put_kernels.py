"""Compiled loops of a put: values from rows, changes from what was there and what is there now."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakeward.records.kernels.kernel import kernel

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 1, 2, 3, 4
OLD, NEW = 0, 1
SCHEMA_ID_BYTES = 2


@kernel
def put_values(rows: Any, starts: I64, ends: I64, schema_id: Any, out: Any, out_starts: I64, out_ends: I64) -> None:
    """Write each row behind its schema id; a row that is absent (-1) stays absent."""
    at = 0
    for i in range(len(starts)):
        if starts[i] < 0:
            out_starts[i] = out_ends[i] = -1
            continue
        out_starts[i] = at
        out[at] = schema_id & 0xFF
        out[at + 1] = (schema_id >> 8) & 0xFF
        at += 2
        for j in range(starts[i], ends[i]):
            out[at] = rows[j]
            at += 1
        out_ends[i] = at


@kernel
def plan_changes(old: I64, new: I64, full_image: Any, plain_updates: Any, kinds: U8, sides: U8, places: I64) -> Any:
    """The changes of a batch in order: kind, whether its row is the old or the new one, and of which record.

    With the full image an update is two changes. `plain_updates` says that nobody looked whether the key was there.
    """
    count = 0
    for i in range(len(old)):
        if new[i] < 0:
            if old[i] >= 0:
                kinds[count], sides[count], places[count] = DELETE, OLD, i
                count += 1
        elif plain_updates or (old[i] >= 0 and not full_image):
            kinds[count], sides[count], places[count] = UPDATE_AFTER, NEW, i
            count += 1
        elif old[i] < 0:
            kinds[count], sides[count], places[count] = INSERT, NEW, i
            count += 1
        else:
            kinds[count], sides[count], places[count] = UPDATE_BEFORE, OLD, i
            kinds[count + 1], sides[count + 1], places[count + 1] = UPDATE_AFTER, NEW, i
            count += 2
    return count
