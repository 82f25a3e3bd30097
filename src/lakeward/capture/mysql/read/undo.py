"""Rows as they were: what was changed after a moment is put back to what its first change says was there before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.capture.port import ChangeKind

_BEFORE = (ChangeKind.UPDATE_BEFORE, ChangeKind.DELETE)


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Changes one after the other, in columns of the names that they had then, and what each is."""

    rows: pa.RecordBatch
    kinds: pa.Array


class KeyedUndo:
    """For tables with a key: the keys that were changed, and the rows that are put back.

    `by_last`: rows are brought forward instead, to what the last change says is there. Only rows that are put back are
    put into the columns of the table: what came later may not fit them.
    """

    def __init__(self, changes: Sequence[ChangedRows], schema: pa.Schema, key: Sequence[str], *, by_last: bool) -> None:
        self._key = list(key)
        self._types = pa.schema([schema.field(name) for name in key])
        kinds = np.concatenate([np.asarray(change.kinds) for change in changes])
        keys = pa.concat_tables([self._keys_of(change.rows) for change in changes])
        # What came after an update is never the first that is told of a key, nor what was before it the last.
        beside = ChangeKind.UPDATE_BEFORE if by_last else ChangeKind.UPDATE_AFTER
        numbers = np.flatnonzero(kinds != beside)
        numbered = keys.take(pa.array(numbers)).append_column("_number", pa.array(numbers))
        way = "max" if by_last else "min"
        chosen = np.sort(np.asarray(numbered.group_by(self._key).aggregate([("_number", way)])[f"_number_{way}"]))
        self._changed = keys.take(pa.array(chosen, pa.int64()))
        self._tuples = set(_tuples(self._changed))
        there = (ChangeKind.UPDATE_AFTER, ChangeKind.INSERT) if by_last else _BEFORE
        self.rows_back = _gather(changes, chosen[np.isin(kinds[chosen], there)])

    def _keys_of(self, rows: pa.RecordBatch) -> pa.Table:
        return pa.Table.from_batches([rows]).select(self._key).cast(self._types)

    def keep(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that nobody changed."""
        keys = self._keys_of(rows)
        suspects: Any = None
        for name in self._key:
            found = pc.is_in(keys[name], self._changed[name].combine_chunks())
            suspects = found if suspects is None else pc.and_(suspects, found)
        places = np.flatnonzero(np.asarray(suspects))
        if not len(places):
            return rows
        tuples = _tuples(keys.take(pa.array(places)))
        gone = [place for place, key in zip(places.tolist(), tuples, strict=True) if key in self._tuples]
        mask = np.ones(len(rows), np.bool_)
        mask[gone] = False
        return rows.filter(pa.array(mask))


def _gather(changes: Sequence[ChangedRows], numbers: npt.NDArray[np.int64]) -> list[pa.RecordBatch]:
    """Rows by their numbers among all changes."""
    out, begin = [], 0
    for change in changes:
        own = numbers[(numbers >= begin) & (numbers < begin + len(change.rows))] - begin
        if len(own):
            out.append(change.rows.take(pa.array(own)))
        begin += len(change.rows)
    return out


class BagUndo:
    """For tables without a key: rows are equal or not, and how many there are counts."""

    def __init__(self, changes: Sequence[ChangedRows], *, is_forward: bool) -> None:
        rows = pa.Table.from_batches([change.rows for change in changes])
        gone = pa.array(np.isin(np.concatenate([np.asarray(change.kinds) for change in changes]), _BEFORE))
        removed, added = rows.filter(gone), rows.filter(pc.invert(gone))
        if is_forward:
            removed, added = added, removed
        self._net = Counter(_tuples(removed))
        self._net.subtract(_tuples(added))
        self._schema = rows.schema
        self._excess = Counter({row: -count for row, count in self._net.items() if count < 0})

    def keep(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows without those that came later, each as often as it came."""
        if not self._excess:
            return rows
        mask = np.ones(len(rows), np.bool_)
        for place, row in enumerate(_tuples(rows)):
            if self._excess.get(row, 0) > 0:
                self._excess[row] -= 1
                mask[place] = False
        return rows.filter(pa.array(mask))

    @property
    def rows_back(self) -> list[pa.RecordBatch]:
        """The rows that were there and are not any more."""
        rows = [row for row, count in self._net.items() for _ in range(max(count, 0))]
        columns = list(zip(*rows, strict=True)) or [()] * len(self._schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        return [pa.RecordBatch.from_arrays(arrays, schema=self._schema)] if rows else []


def _tuples(rows: pa.RecordBatch | pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
