"""The keys of a hash engine in order, for prefix lookups. Exists only where somebody looks up by prefix.

Keys lie sorted in a buffer of their own, so entries may move and values change without touching it. New keys are put
beside it and merged in when they have become many. A deleted key stays until the next rebuild; whoever reads asks the
index for the value anyway, and finds none.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right

import numpy as np

from lakeward.storage.kv.hash import order_kernels
from lakeward.storage.kv.store.slices import I64, U8, Slices

#: New keys that are looked through one by one, at least, and at most this share of all.
_RECENT_MIN = 2048
_RECENT_SHARE = 16


class OrderedKeys:
    """All keys that a store has, sorted, and some that it has no more."""

    def __init__(self, sorted_keys: Slices) -> None:
        self._sorted = sorted_keys
        self._recent: list[Slices] = []
        self._recent_count = 0

    def __len__(self) -> int:
        return len(self._sorted) + self._recent_count

    @property
    def memory_bytes(self) -> int:
        """Bytes of all keys and their bounds."""
        return sum(s.buffer.nbytes + s.starts.nbytes + s.ends.nbytes for s in (self._sorted, *self._recent))

    def add(self, keys: Slices, chosen: I64) -> None:
        """Some of the keys of a batch are new."""
        if len(chosen):
            self._recent.append(_compact(keys, chosen))
            self._recent_count += len(chosen)

    def with_prefix(self, prefix: bytes, count_max: int | None = None) -> Slices:
        """The keys that begin so, sorted, without repeats; some may be gone. With `count_max` some may be left out
        when there are that many.
        """
        if self.merge_is_due:
            self.merge()
        keys = self._sorted
        rows = range(len(keys))
        first = bisect_left(rows, prefix, key=lambda i: _head(keys, i, len(prefix)))
        end = bisect_right(rows, prefix, first, key=lambda i: _head(keys, i, len(prefix)))
        found = _compact(keys, np.arange(first, end if count_max is None else min(end, first + count_max)))
        recent = [_compact(batch, _having(batch, prefix)) for batch in self._recent]
        return _merge(found, sorted(key for batch in recent for key in batch.present()))

    @property
    def merge_is_due(self) -> bool:
        """Whether there are too many new keys to look through them one by one."""
        return self._recent_count > max(_RECENT_MIN, len(self._sorted) // _RECENT_SHARE)

    def merge(self) -> None:
        """Put new keys in their places."""
        # Batch by batch: one long sort would keep every other thread waiting.
        recent = list(heapq.merge(*(sorted(batch.present()) for batch in self._recent)))
        self._sorted = _merge(self._sorted, recent)
        self._recent = []
        self._recent_count = 0


def _head(keys: Slices, i: int, size: int) -> bytes:
    start = keys.starts[i]
    return keys.buffer[start : min(int(keys.ends[i]), int(start) + size)].tobytes()


def _having(keys: Slices, prefix: bytes) -> I64:
    """Which keys begin so."""
    rows = np.flatnonzero(keys.ends - keys.starts >= len(prefix))
    for i, byte in enumerate(prefix):
        rows = rows[keys.buffer[keys.starts[rows] + i] == byte]
    return rows


def _compact(keys: Slices, rows: I64) -> Slices:
    """Some keys in a buffer of their own."""
    starts, ends = keys.starts[rows], keys.ends[rows]
    sizes = ends - starts
    out_ends = np.cumsum(sizes)
    out_starts = out_ends - sizes
    total = int(out_ends[-1]) if len(rows) else 0
    sources = np.arange(total) + np.repeat(starts - out_starts, sizes)
    return Slices(keys.buffer[sources], out_starts, out_ends)


def _merge(keys: Slices, others: list[bytes]) -> Slices:
    if not others:
        return keys
    added = Slices.of(dict.fromkeys(others)).for_kernels(optional=False)
    out: U8 = np.empty(len(keys.buffer) + len(added.buffer), np.uint8)
    ends = np.empty(len(keys) + len(added), np.int64)
    count = order_kernels.merge_keys(
        keys.buffer.ctypes.data,
        keys.starts,
        keys.ends,
        added.buffer.ctypes.data,
        added.starts,
        added.ends,
        out.ctypes.data,
        ends,
    )
    ends = ends[:count].copy()
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    return Slices(out[: ends[-1]].copy(), starts, ends)
