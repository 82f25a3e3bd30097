"""The compiled loops that put entries into key order. Loads numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.storage.kv.hash.entry_kernels import AHEAD, address_of, entry_at
from lakeward.storage.kv.hash.raw_memory import copy_bytes, load_u8, load_u64, load_u64_big, prefetch
from lakeward.storage.kv.store.slices import I64, U64

#: A longer run of keys that begin alike is sorted by what follows, not key by key.
SMALL_RUN = 64

_WORD_BYTES = 8
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel_part
def _word(key: Any, key_bytes: Any, depth: Any) -> Any:
    """Eight bytes of a key as a number that orders as they do; zeros behind the key's end."""
    left = key_bytes - depth
    if left <= 0:
        return np.uint64(0)
    word = load_u64_big(key + depth)  # may look behind the entry, never behind the chunk and its slack
    if left < _WORD_BYTES:
        word &= _ONES << np.uint64(8 * (_WORD_BYTES - left))
    return word


@kernel_part
def _common_bytes(left: Any, right: Any, size: Any) -> Any:
    """How many leading bytes are the same, at most `size`."""
    at = 0
    while at + _WORD_BYTES <= size and load_u64(left + at) == load_u64(right + at):
        at += _WORD_BYTES
    while at < size and load_u8(left + at) == load_u8(right + at):
        at += 1
    return at


@kernel
def key_words(chunks: I64, positions: I64, depth: Any, words: U64) -> Any:
    """The eight bytes at a depth of every key; returns how many leading bytes all the keys have in common."""
    first, common, _ = entry_at(address_of(chunks, positions[0]))
    for i in range(len(positions)):
        if i + AHEAD < len(positions):
            prefetch(address_of(chunks, positions[i + AHEAD]))
        key, key_bytes, _ = entry_at(address_of(chunks, positions[i]))
        words[i] = _word(key, key_bytes, depth)
        if common > depth:
            common = _common_bytes(first, key, min(common, key_bytes))
    return common


@kernel_part
def _compare(left: Any, left_bytes: Any, right: Any, right_bytes: Any) -> Any:
    """Below zero, zero, or above: how two keys order."""
    size = min(left_bytes, right_bytes)
    common = _common_bytes(left, right, size)
    if common < size:
        return load_u8(left + common) - load_u8(right + common)
    return left_bytes - right_bytes


@kernel_part
def _comes_before(chunks: I64, left_position: Any, right_position: Any) -> Any:
    left, left_bytes, _ = entry_at(address_of(chunks, left_position))
    right, right_bytes, _ = entry_at(address_of(chunks, right_position))
    return _compare(left, left_bytes, right, right_bytes) < 0


@kernel
def sort_small_runs(chunks: I64, positions: I64, words: U64, at: Any) -> Any:
    """Sort the runs of equal words, key by key; returns where the next long run begins and ends, or the end twice."""
    count = len(positions)
    while at < count:
        end = at + 1
        while end < count and words[end] == words[at]:
            end += 1
        if end - at > SMALL_RUN:
            return at, end
        for i in range(at + 1, end):
            moving, j = positions[i], i
            while j > at and _comes_before(chunks, moving, positions[j - 1]):
                positions[j] = positions[j - 1]
                j -= 1
            positions[j] = moving
        at = end
    return count, count


@kernel
def merge_keys(
    keys: Any, starts: I64, ends: I64, others: Any, other_starts: I64, other_ends: I64, out: Any, out_ends: I64
) -> Any:
    """Merge two sorted lists of keys into one without repeats; returns how many keys it has."""
    i = j = count = at = 0
    while i < len(starts) or j < len(other_starts):
        order = -1 if j == len(other_starts) else 1
        if i < len(starts) and j < len(other_starts):
            left, right = keys + starts[i], others + other_starts[j]
            order = _compare(left, ends[i] - starts[i], right, other_ends[j] - other_starts[j])
        if order <= 0:
            source, size = keys + starts[i], ends[i] - starts[i]
            i += 1
        else:
            source, size = others + other_starts[j], other_ends[j] - other_starts[j]
        if order >= 0:
            j += 1
        copy_bytes(out + at, source, size)
        at += size
        out_ends[count] = at
        count += 1
    return count
