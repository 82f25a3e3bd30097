"""KeySet: keys of whole numbers, days and moments, which rows are looked up in: numbers of 64 bits made of the columns,
sorted. A table of bits says first that a row is not there, as most are not; nothing is built again for each batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.lake.rows.key_numbers import key_numbers

#: Bits for each key, about: of the rows that are not there one in so many is looked for.
_BITS_A_KEY = 32
_BITS_MIN, _BITS_MAX = 10, 26


class KeySet:
    """Immutable; made by `of`."""

    def __init__(self, keys: pa.Table, mixed: NDArray[np.uint64]) -> None:
        self._order = np.argsort(mixed)
        self._sorted = mixed[self._order]
        self._keys = keys
        wanted = max(keys.num_rows * _BITS_A_KEY - 1, 1).bit_length()
        self._shift = np.uint64(64 - min(max(wanted, _BITS_MIN), _BITS_MAX))
        self._seen = np.zeros(1 << (64 - int(self._shift)), np.bool_)
        self._seen[mixed >> self._shift] = True

    @classmethod
    def of(cls, keys: pa.Table) -> KeySet | None:
        """A set of keys; None where they are of other types, or two have the same number."""
        mixed = key_numbers(keys.columns)
        if mixed is None or not len(mixed):
            return None
        found = cls(keys.combine_chunks(), mixed)
        return None if bool((found._sorted[1:] == found._sorted[:-1]).any()) else found

    def holds(self, rows: pa.RecordBatch) -> NDArray[np.bool_] | None:
        """Which rows have one of the keys; None where their keys are of other types."""
        if rows.select(self._keys.column_names).schema.types != self._keys.schema.types:
            return None
        columns = [rows.column(name) for name in self._keys.column_names]
        mixed = key_numbers(columns)
        if mixed is None:
            return None
        found: NDArray[np.bool_] = self._seen[mixed >> self._shift]
        at = np.flatnonzero(found)
        places = np.minimum(np.searchsorted(self._sorted, mixed[at]), len(self._sorted) - 1)
        # The same number does not mean the same key.
        rows_at, keys_at = pa.array(at), pa.array(self._order[places])
        same = self._sorted[places] == mixed[at]
        for column, keys in zip(columns, self._keys.columns, strict=True):
            same &= pc.equal(column.take(rows_at), keys.take(keys_at)).to_numpy(zero_copy_only=False)
        found[at] = same
        return found
