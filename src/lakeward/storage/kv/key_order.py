"""Entries in key order, when somebody asks: a hash index has none.

Keys are sorted by eight bytes at a time, as numbers. Where many keys are alike in those, the next eight that are not
alike decide; where few are, the whole keys.
"""

from __future__ import annotations

import numpy as np

from lakeward.storage.kv import entry_kernels, order_kernels
from lakeward.storage.kv.slices import I64, U64

_WORD_BYTES = 8


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


def first_in_key_order(chunks: I64, positions: I64, limit: int) -> I64:
    """The positions of the entries with the smallest keys, sorted; the rest is not."""
    if 0 < limit < len(positions):
        words, _ = _words(chunks, positions, 0)
        positions = positions[words <= np.partition(words, limit - 1)[limit - 1]]
    return in_key_order(chunks, positions)[:limit]


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
