"""Arrow rows → hashes of 64 bits, whole columns at a time. Equal values have equal hashes, whatever batch they lie in.

Bytes are folded as Σ word(byte)·Rⁱ modulo 2⁶⁴: with running sums, and since R has an inverse, all values of a column
are folded at once. These hashes find what is lost or changed by accident; they are no defence against who wants two
rows to look the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

#: Elements that are folded at once, for a bound of memory; a longer value comes alone.
_PIECE = 1 << 20
_ODD = 0x9E3779B97F4A7C15
_INVERSE = pow(_ODD, -1, 1 << 64)
_NULL = np.uint64(0x6C61_6B65_7761_7264)
_WORDS: U64 = np.random.default_rng(2026).integers(1, 1 << 63, 256, np.uint64)


def hash_rows(rows: pa.RecordBatch, names: Sequence[str]) -> U64:
    """A hash for each row, of these columns in this order."""
    return _join([hash_column(rows.column(name)) for name in names], rows.num_rows)


def hash_column(array: pa.Array) -> U64:
    """A hash for each value."""
    found = _values(array)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = _NULL
    return found


def mix(words: U64) -> U64:
    """Words whose bits all depend on each other."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _join(columns: Sequence[U64], rows: int) -> U64:
    total = np.zeros(rows, np.uint64)
    for place, column in enumerate(columns):
        total += mix(column + np.uint64((place + 1) * _ODD % (1 << 64)))
    return mix(total)


def _values(array: pa.Array) -> U64:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return hash_column(array.dictionary_decode())
    if pa.types.is_null(kind):
        return np.full(len(array), _NULL)
    if pa.types.is_struct(kind):
        return _join([hash_column(part) for part in array.flatten()], len(array))
    if pa.types.is_map(kind):
        # Pairs have no order: what stands for each is added up.
        pairs = _join([hash_column(array.keys), hash_column(array.items)], len(array.keys))
        return _fold(pairs, *_bounds(array.offsets), is_ordered=False)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _fold(hash_column(array.values), *_bounds(array.offsets))
    if pa.types.is_fixed_size_list(kind):
        bounds = np.arange(len(array) + 1, dtype=np.int64) * kind.list_size + array.offset * kind.list_size
        return _fold(hash_column(array.values), bounds[:-1], bounds[1:])
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _hash_texts(array, np.int32)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return _hash_texts(array, np.int64)
    if pa.types.is_boolean(kind):
        return mix(array.cast(pa.uint8()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64))
    return _hash_fixed(array)


def _hash_fixed(array: pa.Array) -> U64:
    """Numbers, times, decimals and bytes of one length, by their bytes."""
    width = array.type.bit_width // 8
    buffer = array.buffers()[1]
    if not len(array) or buffer is None:
        return np.zeros(len(array), np.uint64)
    raw = np.frombuffer(buffer, np.uint8)[array.offset * width : (array.offset + len(array)) * width]
    padded = np.zeros((len(array), -(-width // 8) * 8), np.uint8)
    padded[:, :width] = raw.reshape(len(array), width)
    words = padded.view(np.uint64)
    total = np.full(len(array), np.uint64(width))
    for place in range(words.shape[1]):
        total = mix(total + words[:, place])
    return total


def _hash_texts(array: pa.Array, offset_type: Any) -> U64:
    _, offsets, data = array.buffers()
    if not len(array) or offsets is None:
        return np.zeros(len(array), np.uint64)
    bounds = np.frombuffer(offsets, offset_type)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    content = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    starts, ends = bounds[:-1], bounds[1:]
    out = np.empty(len(array), np.uint64)
    for first, last in _pieces(starts, ends):
        low, high = int(starts[first]), int(ends[last - 1])
        if high - low > _PIECE:
            digest = hashlib.blake2b(content[low:high].tobytes(), digest_size=8).digest()
            out[first] = int.from_bytes(digest, "little")
        else:
            out[first:last] = _sums(_WORDS[content[low:high]], starts[first:last] - low, ends[first:last] - low)
    return mix(out + (ends - starts).astype(np.uint64))


def _fold(elements: U64, starts: I64, ends: I64, *, is_ordered: bool = True) -> U64:
    out = np.empty(len(starts), np.uint64)
    for first, last in _pieces(starts, ends):
        low, high = int(starts[first]), int(ends[last - 1])
        piece = mix(elements[low:high] + np.uint64(1))
        out[first:last] = _sums(piece, starts[first:last] - low, ends[first:last] - low, is_ordered=is_ordered)
    return mix(out + (ends - starts).astype(np.uint64))


def _sums(words: U64, starts: I64, ends: I64, *, is_ordered: bool = True) -> U64:
    """Σ wordsᵢ·Rⁱ⁻ˢᵗᵃʳᵗ of each stretch."""
    sums = np.zeros(len(words) + 1, np.uint64)
    np.cumsum(words * _powers(_ODD, len(words)) if is_ordered else words, out=sums[1:])
    found: U64 = sums[ends] - sums[starts]
    return found * _powers(_INVERSE, len(words) + 1)[starts] if is_ordered else found


_known: dict[int, U64] = {}


def _powers(base: int, count: int) -> U64:
    known = _known.get(base)
    if known is None or len(known) < count:
        known = np.full(max(count, 1 << 12), np.uint64(base))
        known[0] = 1
        known = np.multiply.accumulate(known)
        if count <= _PIECE + 1:
            _known[base] = known
    return known[:count]


def _pieces(starts: I64, ends: I64) -> Iterator[tuple[int, int]]:
    """Runs of values that are not too much together; none for no values."""
    first = 0
    while first < len(starts):
        last = int(np.searchsorted(ends, starts[first] + _PIECE, side="right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def _bounds(offsets: pa.Array) -> tuple[I64, I64]:
    bounds = offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    return bounds[:-1], bounds[1:]
