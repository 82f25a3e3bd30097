"""The compiled loops of the hash engine: find, apply, undo, clean. Loads numba.

    slot       hash (29 bits) | position (34 bits); 0 is empty. Linear probing from the hash's upper bits. There are no
               tombstones: an erased slot is closed by moving its followers up, without a look at their keys.
    state      one row of numbers that the kernels and the store share, by the names below

Positions and entries: see `entry_kernels`. Nothing here checks bounds: the store checks slices before it calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.storage.kv.hash.entry_kernels import (
    ADDRESS,
    AHEAD,
    CAPACITY,
    CHUNK_UNIT_BITS,
    LIVE,
    POSITION_BITS,
    UNIT_BITS,
    USED,
    address_of,
    entry_at,
    entry_bytes,
    entry_bytes_at,
    equal_bytes,
    hash_of,
    write_entry,
)
from lakeward.storage.kv.hash.raw_memory import copy_bytes, prefetch
from lakeward.storage.kv.store.slices import I64

#: Rows; key and value bytes of all rows; the chunk that is written to; how far a hash is shifted to give its slot;
#: bytes of all chunks that are used, and of them live.
ROWS, ROW_BYTES, TAIL, SHIFT, LOG_USED, LOG_LIVE = 0, 1, 2, 3, 4, 5
STATE_FIELDS = 6
#: How far `apply` came: records, bytes of their old values.
DONE, OLD_BYTES = 0, 1
PROGRESS_FIELDS = 2

_POSITION_MASK = (1 << POSITION_BITS) - 1


# -- slots


@kernel_part
def _find(slots: I64, chunks: I64, shift: Any, hashed: Any, key: Any, key_bytes: Any) -> Any:
    """The slot of a key, or the empty one where it belongs."""
    mask = len(slots) - 1
    at = hashed >> shift
    while True:
        slot = slots[at]
        if slot == 0:
            return at
        if slot >> POSITION_BITS == hashed:
            found, found_bytes, _ = entry_at(address_of(chunks, slot & _POSITION_MASK))
            if found_bytes == key_bytes and equal_bytes(found, key, key_bytes):
                return at
        at = (at + 1) & mask


@kernel_part
def _find_exact(slots: I64, shift: Any, slot: Any) -> Any:
    """Where a slot's very value is, or -1."""
    mask = len(slots) - 1
    at = (slot >> POSITION_BITS) >> shift
    while slots[at] != 0:
        if slots[at] == slot:
            return at
        at = (at + 1) & mask
    return -1


@kernel_part
def _erase(slots: I64, shift: Any, gap: Any) -> None:
    """Empty a slot and close the gap, so that every key is still found from its home."""
    mask = len(slots) - 1
    at = gap
    while True:
        at = (at + 1) & mask
        slot = slots[at]
        if slot == 0:
            slots[gap] = 0
            return
        home = (slot >> POSITION_BITS) >> shift
        if (at - home) & mask >= (at - gap) & mask:
            slots[gap] = slot
            gap = at


@kernel_part
def _put_slot(slots: I64, shift: Any, slot: Any) -> None:
    mask = len(slots) - 1
    at = (slot >> POSITION_BITS) >> shift
    while slots[at] != 0:
        at = (at + 1) & mask
    slots[at] = slot


@kernel
def rehash(slots: I64, wider: I64, shift: Any) -> None:
    """Put all slots into another array; keys are not looked at."""
    for at in range(len(slots)):
        if slots[at] != 0:
            _put_slot(wider, shift, slots[at])


@kernel
def live_positions(slots: I64, positions: I64) -> None:
    """The positions of all entries, in no order."""
    count = 0
    for at in range(len(slots)):
        if slots[at] != 0:
            positions[count] = slots[at] & _POSITION_MASK
            count += 1


# -- whole batches


@kernel
def hash_keys(keys: Any, starts: I64, ends: I64, hashes: I64) -> None:
    """The hashes of a batch of keys."""
    for i in range(len(starts)):
        hashes[i] = hash_of(keys + starts[i], ends[i] - starts[i])


@kernel_part
def _look_ahead(slots: I64, chunks: I64, shift: Any, hashes: I64, i: Any, base: Any) -> None:
    """Ask for the memory that the next keys will need: slots first, then the entries they point to."""
    if i + 2 * AHEAD < len(hashes):
        prefetch(base + ((hashes[i + 2 * AHEAD] >> shift) << 3))
    if i + AHEAD < len(hashes):
        slot = slots[hashes[i + AHEAD] >> shift]
        if slot != 0:
            prefetch(address_of(chunks, slot & _POSITION_MASK))


@kernel
def locate(
    slots: I64,
    chunks: I64,
    state: I64,
    keys: Any,
    starts: I64,
    ends: I64,
    hashes: I64,
    found: I64,
    out_starts: I64,
    out_ends: I64,
) -> Any:
    """Find keys: positions (0 = absent), and where their values will lie in one buffer; returns that buffer's size."""
    shift, base = state[SHIFT], slots.ctypes.data
    total = 0
    for i in range(len(starts)):
        _look_ahead(slots, chunks, shift, hashes, i, base)
        slot = slots[_find(slots, chunks, shift, hashes[i], keys + starts[i], ends[i] - starts[i])]
        found[i] = slot & _POSITION_MASK
        if slot == 0:
            out_starts[i] = out_ends[i] = -1
        else:
            _, _, value_bytes = entry_at(address_of(chunks, found[i]))
            out_starts[i] = total
            total += value_bytes
            out_ends[i] = total
    return total


@kernel_part
def _count_out(chunks: I64, state: I64, position: Any) -> Any:
    """An entry is no longer live; returns the bytes of its value."""
    _, key_bytes, value_bytes = entry_at(address_of(chunks, position))
    size = entry_bytes(key_bytes, value_bytes)
    chunks[position >> CHUNK_UNIT_BITS, LIVE] -= size
    state[LOG_LIVE] -= size
    state[ROW_BYTES] -= key_bytes + value_bytes
    state[ROWS] -= 1
    return value_bytes


@kernel_part
def _count_in(chunks: I64, state: I64, position: Any) -> None:
    """An entry is live."""
    _, key_bytes, value_bytes = entry_at(address_of(chunks, position))
    size = entry_bytes(key_bytes, value_bytes)
    chunks[position >> CHUNK_UNIT_BITS, LIVE] += size
    state[LOG_LIVE] += size
    state[ROW_BYTES] += key_bytes + value_bytes
    state[ROWS] += 1


@kernel_part
def _append(chunks: I64, state: I64, key: Any, key_bytes: Any, value: Any, value_bytes: Any) -> Any:
    """Write an entry at the tail, which has room; returns its position."""
    tail = state[TAIL]
    offset = chunks[tail, USED]
    size = write_entry(chunks[tail, ADDRESS] + offset, key, key_bytes, value, value_bytes)
    chunks[tail, USED] = offset + size
    chunks[tail, LIVE] += size
    state[LOG_USED] += size
    state[LOG_LIVE] += size
    state[ROW_BYTES] += key_bytes + value_bytes
    state[ROWS] += 1
    return tail << CHUNK_UNIT_BITS | offset >> UNIT_BITS


@kernel
def apply(
    slots: I64,
    chunks: I64,
    state: I64,
    keys: Any,
    key_starts: I64,
    key_ends: I64,
    values: Any,
    value_starts: I64,
    value_ends: I64,
    hashes: I64,
    progress: I64,
    new: I64,
    old: I64,
    old_starts: I64,
    old_ends: I64,
) -> None:
    """Apply records until the tail or the slots have no more room; `progress` says how many were applied.

    `new` and `old` get the positions written and replaced (0 = none), `old_starts` and `old_ends` the places of the old
    values in one buffer, of which `progress` has the size.
    """
    shift, base, rows_max = state[SHIFT], slots.ctypes.data, len(slots) - (len(slots) >> 2)
    for i in range(progress[DONE], len(key_starts)):
        _look_ahead(slots, chunks, shift, hashes, i, base)
        key, key_bytes = keys + key_starts[i], key_ends[i] - key_starts[i]
        slot_at = _find(slots, chunks, shift, hashes[i], key, key_bytes)
        position = slots[slot_at] & _POSITION_MASK
        if value_starts[i] >= 0:
            value_bytes = value_ends[i] - value_starts[i]
            tail = state[TAIL]
            room = chunks[tail, CAPACITY] - chunks[tail, USED]
            if entry_bytes(key_bytes, value_bytes) > room or (position == 0 and state[ROWS] >= rows_max):
                progress[DONE] = i
                return
            new[i] = _append(chunks, state, key, key_bytes, values + value_starts[i], value_bytes)
            slots[slot_at] = hashes[i] << POSITION_BITS | new[i]
        else:
            new[i] = 0
            if position != 0:
                _erase(slots, shift, slot_at)
        old[i] = position
        if position == 0:
            old_starts[i] = old_ends[i] = -1
        else:
            old_starts[i] = progress[OLD_BYTES]
            progress[OLD_BYTES] += _count_out(chunks, state, position)
            old_ends[i] = progress[OLD_BYTES]
    progress[DONE] = len(key_starts)


@kernel
def undo(slots: I64, chunks: I64, state: I64, new: I64, old: I64) -> None:
    """Take records back, the last one first."""
    shift = state[SHIFT]
    for i in range(len(new) - 1, -1, -1):
        if new[i] == 0 and old[i] == 0:
            continue
        key, key_bytes, _ = entry_at(address_of(chunks, new[i] if new[i] != 0 else old[i]))
        hashed = hash_of(key, key_bytes)
        if new[i] != 0:
            at = _find_exact(slots, shift, hashed << POSITION_BITS | new[i])
            if old[i] != 0:
                slots[at] = hashed << POSITION_BITS | old[i]
            else:
                _erase(slots, shift, at)
            _count_out(chunks, state, new[i])
        else:
            _put_slot(slots, shift, hashed << POSITION_BITS | old[i])
        if old[i] != 0:
            _count_in(chunks, state, old[i])


@kernel
def clean(slots: I64, chunks: I64, state: I64, chunk: Any, offset: Any) -> Any:
    """Move the live entries of a chunk to the tail; returns how far it came before the tail was full."""
    shift, base = state[SHIFT], slots.ctypes.data
    ahead = np.empty(2 * AHEAD, np.int64)  # the slots of the next entries, in a ring
    read_to, read = offset, 0
    done = 0
    while offset < chunks[chunk, USED]:
        while read_to < chunks[chunk, USED] and read < done + 2 * AHEAD:
            key, key_bytes, value_bytes = entry_at(chunks[chunk, ADDRESS] + read_to)
            position = chunk << CHUNK_UNIT_BITS | read_to >> UNIT_BITS
            hashed = hash_of(key, key_bytes)
            prefetch(base + ((hashed >> shift) << 3))
            ahead[read % (2 * AHEAD)] = hashed << POSITION_BITS | position
            read_to += entry_bytes(key_bytes, value_bytes)
            read += 1
        size = entry_bytes_at(chunks[chunk, ADDRESS] + offset)
        slot = ahead[done % (2 * AHEAD)]
        at = _find_exact(slots, shift, slot)
        if at >= 0:
            tail = state[TAIL]
            if chunks[tail, CAPACITY] - chunks[tail, USED] < size:
                return offset
            moved = tail << CHUNK_UNIT_BITS | chunks[tail, USED] >> UNIT_BITS
            copy_bytes(chunks[tail, ADDRESS] + chunks[tail, USED], chunks[chunk, ADDRESS] + offset, size)
            chunks[tail, USED] += size
            chunks[tail, LIVE] += size
            chunks[chunk, LIVE] -= size
            state[LOG_USED] += size
            slots[at] = slot & ~_POSITION_MASK | moved
        offset += size
        done += 1
    return offset


@kernel
def index_chunk(slots: I64, chunks: I64, state: I64, chunk: Any) -> Any:
    """Enter all entries of a restored chunk; returns how many, or -1 when they are no entries."""
    shift, address, offset, count = state[SHIFT], chunks[chunk, ADDRESS], 0, 0
    rows_max = len(slots) - (len(slots) >> 2)
    while offset < chunks[chunk, USED]:
        key, key_bytes, value_bytes = entry_at(address + offset)
        size = entry_bytes(key_bytes, value_bytes)
        if offset + size > chunks[chunk, USED] or state[ROWS] >= rows_max:
            return -1
        position = chunk << CHUNK_UNIT_BITS | offset >> UNIT_BITS
        _put_slot(slots, shift, hash_of(key, key_bytes) << POSITION_BITS | position)
        _count_in(chunks, state, position)
        offset += size
        count += 1
    state[LOG_USED] += offset
    return count
