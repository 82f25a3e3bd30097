"""Entries in key order, when somebody asks: a hash index has none.

Keys are sorted by eight bytes at a time, as numbers. Where many keys are alike in those, the next eight that are not
alike decide; where few are, the whole keys.
"""

from __future__ import annotations

import numpy as np

from lakeward.storage.kv.hash import entry_kernels, order_kernels
from lakeward.storage.kv.store.slices import I64, U64

_WORD_BYTES = 8
_PIECE_ROWS = 1 << 16
_SAMPLES = 1000


def in_key_order(chunks: I64, positions: I64) -> I64:
    """The positions of entries, sorted by their keys, which are all different."""
    ordered = positions.copy()
    runs = [(0, len(ordered), 0)]  # from, to, bytes in which the run's keys are alike
    while runs:
        start, end, depth = runs.pop()
        run = ordered[start:end]
        if len(run) < 2:
            continue
        words, depth = _words(chunks, run, depth)
        order = np.argsort(words)
        run[:], words = run[order], words[order]
        at = 0
        while True:
            at, tied_to = order_kernels.sort_small_runs(chunks, run, words, at)
            if at == len(run):
                break
            # Keys that end here are alike but for their lengths, and come before all that go on.
            ended = _ended_first(chunks, run[at:tied_to], depth + _WORD_BYTES)
            runs.append((start + at + ended, start + tied_to, depth + _WORD_BYTES))
            at = tied_to
    return ordered


class KeyOrder:
    """Positions of entries in key order, sorted piece by piece as they are asked for: the first ones come soon."""

    def __init__(self, chunks: I64, positions: I64) -> None:
        self._chunks = chunks
        # Pieces in key order, the next one last; within a piece there is no order yet.
        self._pieces = [(positions, _words(chunks, positions, 0)[0])] if len(positions) else []

    def take(self) -> I64:
        """The next positions; none at the end."""
        while self._pieces:
            positions, words = self._pieces.pop()
            if len(positions) <= _PIECE_ROWS:
                return in_key_order(self._chunks, positions)
            sample = np.sort(words[:: len(words) // _SAMPLES])
            pivot = sample[len(sample) // 2]
            low = words <= pivot
            if low.all():
                low = words < pivot
            if not low.any():  # they are all alike in these eight bytes
                return in_key_order(self._chunks, positions)
            self._pieces += [(positions[~low], words[~low]), (positions[low], words[low])]
        return np.empty(0, np.int64)


def _words(chunks: I64, positions: I64, depth: int) -> tuple[U64, int]:
    """The eight bytes by which to sort keys that are alike up to `depth`, and how deep they lie."""
    words = np.empty(len(positions), np.uint64)
    common = order_kernels.key_words(chunks, positions, depth, words)
    if common < depth + _WORD_BYTES:
        return words, depth
    order_kernels.key_words(chunks, positions, common, words)
    return words, common


def _ended_first(chunks: I64, run: I64, depth: int) -> int:
    """Move the keys of up to `depth` bytes to the front, shortest first; returns how many there are."""
    sizes = np.empty((2, len(run)), np.int64)
    entry_kernels.measure(chunks, run, sizes[0], sizes[1])
    ended = sizes[0] <= depth
    shortest_first = np.argsort(np.where(ended, sizes[0], depth + 1), kind="stable")
    run[:] = run[shortest_first]
    return int(np.count_nonzero(ended))
