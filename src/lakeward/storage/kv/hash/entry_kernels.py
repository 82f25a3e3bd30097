"""The compiled loops over the entries of a value log: lay them out, read them, copy them. Loads numba.

    position   chunk << 17 | offset in the chunk, in units of 8 bytes; 0 is none
    entry      key bytes:u8 | value bytes:u8 | [key bytes:u32] | [value bytes:u32] | key | value | zeros up to 8 bytes;
               a short length of 255 says that the long one follows
    chunk      one row of `chunks`: address, capacity, used, live (bytes)

Nothing here checks bounds: callers do. Numba keeps compiled code until the caller's own file changes; after a change
here remove the `__pycache__` of this package.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.storage.kv.hash.raw_memory import (
    copy_bytes,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    prefetch,
    store_u16,
    store_u32,
    store_u64,
)
from lakeward.storage.kv.store.slices import I64

HASH_BITS = 29
POSITION_BITS = 34
CHUNK_UNIT_BITS = 17
UNIT_BITS = 3

ADDRESS, CAPACITY, USED, LIVE = 0, 1, 2, 3
CHUNK_FIELDS = 4
#: How many entries ahead memory is asked for: about as long as it takes to come.
AHEAD = 8

_UNIT_MASK = (1 << CHUNK_UNIT_BITS) - 1
_WORD_BYTES = 8
_LONG = 255
_SHORT_BYTES = 2
_LONG_BYTES = 4

_SEED = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER_2 = np.uint64(0xA0761D6478BD642F)
_FOLD = np.uint64(32)
_HALF = np.uint64(32)
_TOP = np.uint64(64 - HASH_BITS)


# -- keys


@kernel_part
def hash_of(address: Any, size: Any) -> Any:
    """The hash of a key: every bit of the key reaches every bit of it."""
    mixed = _SEED ^ (np.uint64(size) * _MULTIPLIER_2)
    while size >= 8:
        mixed = (mixed ^ load_u64(address)) * _MULTIPLIER
        mixed ^= mixed >> _FOLD
        address += 8
        size -= 8
    if size >= 4:
        word = np.uint64(load_u32(address)) | np.uint64(load_u32(address + size - 4)) << _HALF
    elif size > 0:
        middle, last = load_u8(address + (size >> 1)), load_u8(address + size - 1)
        word = np.uint64(load_u8(address) | middle << 8 | last << 16)
    else:
        word = np.uint64(0)
    mixed = (mixed ^ word) * _MULTIPLIER
    mixed ^= mixed >> _FOLD
    mixed *= _MULTIPLIER_2
    mixed ^= mixed >> _FOLD
    mixed *= _MULTIPLIER
    return np.int64(mixed >> _TOP)


@kernel_part
def equal_bytes(left: Any, right: Any, size: Any) -> Any:
    """Whether two runs of bytes are the same."""
    while size >= 8:
        if load_u64(left) != load_u64(right):
            return False
        left += 8
        right += 8
        size -= 8
    if size >= 4:
        if load_u32(left) != load_u32(right):
            return False
        left += size - 4
        right += size - 4
        return load_u32(left) == load_u32(right)
    at = 0
    while at < size and load_u8(left + at) == load_u8(right + at):
        at += 1
    return at == size


# -- entries


@kernel
def address_of(chunks: I64, position: Any) -> Any:
    """Where an entry lies in memory."""
    return chunks[position >> CHUNK_UNIT_BITS, ADDRESS] + ((position & _UNIT_MASK) << UNIT_BITS)


@kernel_part
def entry_at(address: Any) -> Any:
    """Where an entry's key is, its size, and the size of the value that follows it."""
    lengths = load_u16(address)
    key_bytes, value_bytes = lengths & 0xFF, lengths >> 8
    address += _SHORT_BYTES
    if key_bytes == _LONG:
        key_bytes = load_u32(address)
        address += _LONG_BYTES
    if value_bytes == _LONG:
        value_bytes = load_u32(address)
        address += _LONG_BYTES
    return address, key_bytes, value_bytes


@kernel
def entry_bytes(key_bytes: Any, value_bytes: Any) -> Any:
    """How much room an entry takes."""
    size = _SHORT_BYTES + key_bytes + value_bytes
    if key_bytes >= _LONG:
        size += _LONG_BYTES
    if value_bytes >= _LONG:
        size += _LONG_BYTES
    return (size + 7) & ~7


@kernel_part
def write_entry(address: Any, key: Any, key_bytes: Any, value: Any, value_bytes: Any) -> Any:
    """Lay out an entry; returns its size."""
    size = entry_bytes(key_bytes, value_bytes)
    store_u64(address + size - _WORD_BYTES, 0)  # no bytes of whoever had the memory before get into a snapshot
    store_u16(address, min(key_bytes, _LONG) | min(value_bytes, _LONG) << 8)
    address += _SHORT_BYTES
    if key_bytes >= _LONG:
        store_u32(address, key_bytes)
        address += _LONG_BYTES
    if value_bytes >= _LONG:
        store_u32(address, value_bytes)
        address += _LONG_BYTES
    copy_bytes(address, key, key_bytes)
    copy_bytes(address + key_bytes, value, value_bytes)
    return size


# -- many entries


@kernel
def copy_values(chunks: I64, positions: I64, out: Any, out_starts: I64) -> None:
    """Copy the values of entries to their places in one buffer."""
    for i in range(len(positions)):
        if i + AHEAD < len(positions):
            prefetch(address_of(chunks, positions[i + AHEAD]))
        if positions[i] != 0:
            key, key_bytes, value_bytes = entry_at(address_of(chunks, positions[i]))
            copy_bytes(out + out_starts[i], key + key_bytes, value_bytes)


@kernel
def copy_keys(chunks: I64, positions: I64, out: Any, out_starts: I64) -> None:
    """Copy the keys of entries to their places in one buffer."""
    for i in range(len(positions)):
        if i + AHEAD < len(positions):
            prefetch(address_of(chunks, positions[i + AHEAD]))
        key, key_bytes, _ = entry_at(address_of(chunks, positions[i]))
        copy_bytes(out + out_starts[i], key, key_bytes)


@kernel
def measure(chunks: I64, positions: I64, key_sizes: I64, value_sizes: I64) -> None:
    """The bytes of keys and values of entries."""
    for i in range(len(positions)):
        if i + AHEAD < len(positions):
            prefetch(address_of(chunks, positions[i + AHEAD]))
        _, key_sizes[i], value_sizes[i] = entry_at(address_of(chunks, positions[i]))


@kernel
def entry_bytes_at(address: Any) -> Any:
    """How much room the entry at an address takes."""
    _, key_bytes, value_bytes = entry_at(address)
    return entry_bytes(key_bytes, value_bytes)


@kernel
def pack(chunks: I64, positions: I64, at: Any, out: Any, capacity: Any) -> Any:
    """Copy whole entries until there is no more room; returns the next position's index and the bytes copied."""
    used = 0
    while at < len(positions):
        address = address_of(chunks, positions[at])
        size = entry_bytes_at(address)
        if used + size > capacity:
            break
        copy_bytes(out + used, address, size)
        used += size
        at += 1
    return at, used
