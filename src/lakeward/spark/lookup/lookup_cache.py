"""LookupCache: what a table answered lately, key by key; bounded in rows and in time. Whole columns at a time.

Answers stand in the order in which they came, so that the oldest, by age or for want of room, are a cut at the front.
Keys without a row are kept apart: they are believed for a short while only, because the row may be on its way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.runtime.clock import Clock

MISSING_TTL_MS = 1_000
_ABSENT = -1

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answers:
    """Rows, those of one key next to each other, and how many each key has."""

    counts: Numbers
    rows: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Matches:
    """For each key that was asked for, where its rows begin in `rows` and how many there are."""

    starts: Numbers
    counts: Numbers
    rows: pa.RecordBatch


class _Shelf:
    """Answers in the order they came."""

    def __init__(self, key_type: pa.DataType, schema: pa.Schema) -> None:
        self.keys: pa.Array = pa.array([], key_type)
        self.rows: pa.RecordBatch = pa.RecordBatch.from_pylist([], schema=schema)
        self.counts: Numbers = np.zeros(0, np.int64)
        self.asked_ms: Numbers = np.zeros(0, np.int64)
        self.starts: Numbers = np.zeros(0, np.int64)

    def places(self, keys: pa.Array) -> Numbers:
        """Where each key stands, −1 where it does not."""
        if not len(self.keys):
            return np.full(len(keys), _ABSENT, np.int64)
        found = pc.fill_null(pc.index_in(keys, value_set=self.keys), _ABSENT)
        places: Numbers = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return places

    def add(self, keys: pa.Array, answered: Answers, now_ms: int) -> None:
        """Put new keys behind the others."""
        self.keys = pa.concat_arrays([self.keys, keys])
        if answered.rows.num_rows:
            self.rows = pa.concat_batches([self.rows, answered.rows])
        self.counts = np.concatenate([self.counts, answered.counts])
        self.asked_ms = np.concatenate([self.asked_ms, np.full(len(keys), now_ms, np.int64)])
        self._number()

    def drop_front(self, keys: int) -> None:
        """Forget the oldest."""
        if keys <= 0:
            return
        rows = int(self.counts[:keys].sum())
        self.keys, self.rows = self.keys[keys:], self.rows[rows:]
        self.counts, self.asked_ms = self.counts[keys:], self.asked_ms[keys:]
        self._number()

    def forget(self, before_ms: int, rows_max: int) -> None:
        """Keep what is young enough, and of that what there is room for; a key takes room as a row does."""
        self.drop_front(int(np.searchsorted(self.asked_ms, before_ms, side="right")))
        taken = np.cumsum(np.maximum(self.counts, 1)[::-1])
        self.drop_front(len(self.counts) - int(np.searchsorted(taken, rows_max, side="right")))

    def _number(self) -> None:
        self.starts = np.cumsum(self.counts) - self.counts


class LookupCache:
    """Answers of one table."""

    def __init__(self, key_type: pa.DataType, schema: pa.Schema, *, rows_max: int, ttl_ms: int, clock: Clock) -> None:
        self._found = _Shelf(key_type, schema)
        self._missing = _Shelf(key_type, schema)
        self._rows_max = rows_max
        self._ttl_ms = ttl_ms
        self._clock = clock

    def __len__(self) -> int:
        return len(self._found.keys) + len(self._missing.keys)

    def matches(self, keys: pa.Array, ask: Callable[[Numbers], Answers]) -> Matches:
        """The rows of these keys, all different. `ask` is called once with the places of those that are not known."""
        now_ms = int(self._clock.monotonic() * 1000)
        self._forget(now_ms)
        places = self._found.places(keys)
        unknown = np.flatnonzero(places == _ABSENT)
        if len(unknown):
            unknown = unknown[self._missing.places(keys.take(pa.array(unknown))) == _ABSENT]
        if len(unknown):
            answered = ask(unknown)
            has_rows = answered.counts > 0
            known = unknown[has_rows]
            places[known] = len(self._found.keys) + np.arange(len(known))
            self._found.add(keys.take(pa.array(known)), Answers(answered.counts[has_rows], answered.rows), now_ms)
            lacking = keys.take(pa.array(unknown[~has_rows]))
            empty = Answers(np.zeros(len(lacking), np.int64), answered.rows[:0])
            self._missing.add(lacking, empty, now_ms)
        shelf = self._found
        absent = places == _ABSENT
        starts = np.where(absent, 0, np.take(shelf.starts, places, mode="clip")) if len(shelf.keys) else places * 0
        counts = np.where(absent, 0, np.take(shelf.counts, places, mode="clip")) if len(shelf.keys) else places * 0
        return Matches(starts, counts, shelf.rows)

    def trim(self) -> None:
        """Give back room beyond the limit; one batch may have needed more."""
        self._forget(int(self._clock.monotonic() * 1000))

    def _forget(self, now_ms: int) -> None:
        self._found.forget(now_ms - self._ttl_ms, self._rows_max)
        self._missing.forget(now_ms - min(self._ttl_ms, MISSING_TTL_MS), self._rows_max)
