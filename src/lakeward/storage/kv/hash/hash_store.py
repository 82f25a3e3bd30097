"""The hash engine: a compiled index over a value log in memory. Loads numba.

A record is appended to the log and the index pointed to it; the record it replaces stays where it is until its chunk
is cleaned. That makes undo a matter of pointing back, and a view a matter of not letting go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.port import Files
from lakeward.storage.kv.hash import entry_kernels, hash_kernels
from lakeward.storage.kv.hash.hash_view import ENTRIES_FILE, HashView, read_entries, write_entries
from lakeward.storage.kv.hash.key_order import KeyOrder, in_key_order
from lakeward.storage.kv.hash.ordered_keys import OrderedKeys
from lakeward.storage.kv.hash.value_log import ValueLog
from lakeward.storage.kv.store.slices import I64, Entries, Slices
from lakeward.storage.kv.store.snapshots import PendingSnapshot, Snapshot, new_staging
from lakeward.storage.kv.store.store import AppliedBatch

ENGINE = "hash"
_SLOTS_MIN = 64
#: The value log is cleaned when it has as much garbage as live data, or when the store takes so many times the bytes of
#: its rows. Cleaning a log that has little garbage costs more than it gives, so that little is left alone.
_MEMORY_FACTOR = 2.3
_GARBAGE_SHARE_MIN = 1 / 3
_GARBAGE_BYTES_MIN = 64 * 1024
#: Work on all of this many rows takes long enough to be noticed.
_LARGE_ROWS = 50_000
_NEARLY_FULL = 0.85
#: Slots per row above which the index is made smaller.
_SLOTS_PER_ROW_MAX = 16


class _Positions(NamedTuple):
    """Where the entries of a batch are, and those they replaced; 0 = none."""

    new: I64
    old: I64


class HashStore:
    """The default engine: everything in memory, an index of 11 to 22 bytes a row."""

    engine = ENGINE

    def __init__(self) -> None:
        self._sequence = 0
        self._reset(_SLOTS_MIN)

    def _reset(self, slot_count: int) -> None:
        self._state = np.zeros(hash_kernels.STATE_FIELDS, np.int64)
        self._log = ValueLog(self._state)
        self._slots = np.zeros(slot_count, np.int64)
        self._state[hash_kernels.SHIFT] = _shift_for(slot_count)
        self._ordered: OrderedKeys | None = None
        self._settled = self._sequence

    # -- what there is

    @property
    def row_count(self) -> int:
        """How many keys have a value."""
        return int(self._state[hash_kernels.ROWS])

    @property
    def live_bytes(self) -> int:
        """Bytes of all keys and values."""
        return int(self._state[hash_kernels.ROW_BYTES])

    @property
    def memory_bytes(self) -> int:
        """Bytes of index, value log and, where there is one, the order of keys."""
        ordered = 0 if self._ordered is None else self._ordered.memory_bytes
        return self._slots.nbytes + self._log.capacity_bytes + self._log.chunks.nbytes + ordered

    # -- write

    def apply(self, keys: Slices, values: Slices) -> AppliedBatch:
        """Put or delete (value start -1), strictly in order: a later record of a key sees what an earlier one wrote."""
        given, new_values = keys.for_kernels(optional=False), values.for_kernels(optional=True)
        if len(given) != len(new_values):
            raise ErrorCode.CORRUPT_RECORD.error(f"The batch has {len(given)} keys and {len(new_values)} values.")
        hashes, new, old, starts, ends = np.empty((5, len(given)), np.int64)
        progress = np.zeros(hash_kernels.PROGRESS_FIELDS, np.int64)
        hash_kernels.hash_keys(given.buffer.ctypes.data, given.starts, given.ends, hashes)
        try:
            while True:
                hash_kernels.apply(
                    self._slots,
                    self._log.chunks,
                    self._state,
                    given.buffer.ctypes.data,
                    given.starts,
                    given.ends,
                    new_values.buffer.ctypes.data,
                    new_values.starts,
                    new_values.ends,
                    hashes,
                    progress,
                    new,
                    old,
                    starts,
                    ends,
                )
                done = int(progress[hash_kernels.DONE])
                if done == len(given):
                    break
                self._make_room(given, new_values, done)
        except BaseException:
            done = int(progress[hash_kernels.DONE])
            self._take_back(_Positions(new[:done], old[:done]))
            raise
        if self._ordered is not None:
            self._ordered.add(given, np.flatnonzero((new != 0) & (old == 0)))
        buffer = np.empty(progress[hash_kernels.OLD_BYTES], np.uint8)
        entry_kernels.copy_values(self._log.chunks, old, buffer.ctypes.data, starts)
        self._sequence += 1
        return AppliedBatch(Slices(buffer, starts, ends), values, _Positions(new, old), self._sequence)

    def _make_room(self, keys: Slices, values: Slices, record: int) -> None:
        """For one more record: in the index, when it is full, and in the value log."""
        if self.row_count >= _rows_max(len(self._slots)):
            self._resize(len(self._slots) * 2)
        key_bytes = int(keys.ends[record] - keys.starts[record])
        value_bytes = int(values.ends[record] - values.starts[record])
        self._log.make_room(entry_kernels.entry_bytes(key_bytes, value_bytes))

    def _resize(self, slot_count: int) -> None:
        if slot_count > 1 << entry_kernels.HASH_BITS:
            raise ErrorCode.KV_STORAGE.error(
                f"The bucket has {self.row_count} rows, more than the hash engine can hold; use the rocksdb engine or "
                f"more buckets."
            )
        slots = np.zeros(slot_count, np.int64)
        self._state[hash_kernels.SHIFT] = _shift_for(slot_count)
        hash_kernels.rehash(self._slots, slots, self._state[hash_kernels.SHIFT])
        self._slots = slots

    def undo(self, applied: AppliedBatch) -> None:
        """Take a batch back, exactly. The last one first, and only those since the last `maintain`."""
        assert applied.sequence == self._sequence > self._settled, "batches are taken back last first, before maintain"
        self._take_back(applied.undo)
        self._sequence -= 1

    def _take_back(self, positions: _Positions) -> None:
        # The way back has no more rows at any time than the way there had: the index has room.
        hash_kernels.undo(self._slots, self._log.chunks, self._state, positions.new, positions.old)

    def maintain(self) -> None:
        """Clean the value log until garbage is within its bounds again."""
        self._settled = self._sequence
        if len(self._slots) > max(_SLOTS_MIN, _SLOTS_PER_ROW_MAX * self.row_count):
            self._resize(_slots_for(self.row_count))
        if self._ordered is not None and len(self._ordered) > 2 * self.row_count + _SLOTS_MIN:
            self._ordered = None
        if self._garbage_is_due():
            for chunk in self._log.dead_chunks():
                self._log.free(chunk)
        while self._garbage_is_due():
            worst = self._log.worst_chunk()
            if worst is not None:
                self._clean(worst)
            elif not self._log.close_tail():
                break

    def _garbage_is_due(self) -> bool:
        live = int(self._state[hash_kernels.LOG_LIVE])
        garbage = int(self._state[hash_kernels.LOG_USED]) - live
        if garbage < max(_GARBAGE_BYTES_MIN, live * _GARBAGE_SHARE_MIN):
            return False
        return garbage > live or self.memory_bytes > _MEMORY_FACTOR * self.live_bytes

    def _clean(self, chunk: int) -> None:
        log, offset = self._log, 0
        while True:
            offset = hash_kernels.clean(self._slots, log.chunks, self._state, chunk, offset)
            if offset == log.chunks[chunk, entry_kernels.USED]:
                break
            log.make_room(entry_kernels.entry_bytes_at(log.chunks[chunk, entry_kernels.ADDRESS] + offset))
        log.free(chunk)

    # -- read

    def get(self, keys: Slices, bytes_max: int | None = None) -> Slices:
        """The values of keys; absent ones have a start of -1. OverflowError when they are larger than `bytes_max`."""
        given = keys.for_kernels(optional=False)
        hashes, found, starts, ends = np.empty((4, len(given)), np.int64)
        address = given.buffer.ctypes.data
        hash_kernels.hash_keys(address, given.starts, given.ends, hashes)
        size = hash_kernels.locate(
            self._slots, self._log.chunks, self._state, address, given.starts, given.ends, hashes, found, starts, ends
        )
        if bytes_max is not None and size > bytes_max:
            raise OverflowError(f"{size} bytes")
        buffer = np.empty(size, np.uint8)
        entry_kernels.copy_values(self._log.chunks, found, buffer.ctypes.data, starts)
        return Slices(buffer, starts, ends)

    def scan(self, limit: int) -> Entries:
        """The first rows in key order. Looks at all keys."""
        log = self._log.borrow()
        order, found, missing = KeyOrder(log.chunks, self._live_positions()), [np.empty(0, np.int64)], limit
        while missing > 0 and len(piece := order.take()):
            found.append(piece[:missing])
            missing -= len(piece)
        return log.gather(np.concatenate(found))

    def scan_prefix(self, prefix: bytes, rows_max: int | None = None, bytes_max: int | None = None) -> Entries:
        """All rows whose key begins so, in key order. The first one sorts all keys, later ones do not."""
        keys = self._keys_in_order().with_prefix(prefix, None if rows_max is None else rows_max + 1)
        if rows_max is not None and len(keys) > rows_max:
            raise OverflowError(f"more than {rows_max} rows")
        values = self.get(keys, bytes_max)
        there = values.starts >= 0
        return Entries(
            Slices(keys.buffer, keys.starts[there], keys.ends[there]),
            Slices(values.buffer, values.starts[there], values.ends[there]),
        )

    def _keys_in_order(self) -> OrderedKeys:
        if self._ordered is None:
            log = self._log.borrow()
            self._ordered = OrderedKeys(log.gather_keys(in_key_order(log.chunks, self._live_positions())))
        return self._ordered

    def ordering(self) -> Callable[[], None] | None:
        """Sort all keys, or merge new ones in, where there are many."""
        if self.row_count < _LARGE_ROWS or (self._ordered is not None and not self._ordered.merge_is_due):
            return None
        return lambda: self._keys_in_order().merge()

    def growth(self) -> Callable[[], None] | None:
        """Make a large index larger before it is full."""
        slot_count = len(self._slots)
        if slot_count < _LARGE_ROWS or self.row_count < _rows_max(slot_count) * _NEARLY_FULL:
            return None
        return lambda: self._resize(slot_count * 2)

    def view(self) -> HashView:
        """The state as it is now, to be read while writes go on."""
        return HashView(self._log.freeze(), self._live_positions())

    def _live_positions(self) -> I64:
        positions = np.empty(self.row_count, np.int64)
        hash_kernels.live_positions(self._slots, positions)
        return positions

    # -- snapshots

    def snapshot(self, disk: Files, directory: Path, log_offset: int, extra: Mapping[str, Any]) -> PendingSnapshot:
        """The state as it is now, to be written while writes go on, on any thread."""
        return PendingSnapshot(
            disk=disk,
            directory=directory,
            staging=new_staging(disk, directory),
            engine=ENGINE,
            log_offset=log_offset,
            row_count=self.row_count,
            live_bytes=self.live_bytes,
            extra=extra,
            fill=partial(write_entries, disk, self._log.freeze(), self._live_positions()),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Replace the whole state by that of a snapshot that `newest_good_snapshot` has found good."""
        assert snapshot.engine == ENGINE, snapshot
        self._reset(_slots_for(snapshot.row_count))
        try:
            for chunk, rows in read_entries(snapshot.disk, snapshot.path / ENTRIES_FILE, self._log):
                indexed = hash_kernels.index_chunk(self._slots, self._log.chunks, self._state, chunk)
                if indexed != rows:
                    raise _damage_error(snapshot)
            if self.row_count != snapshot.row_count:
                raise _damage_error(snapshot)
        except BaseException:
            self._reset(_SLOTS_MIN)
            raise

    def close(self) -> None:
        """Let go of memory."""
        self._reset(_SLOTS_MIN)


def _damage_error(snapshot: Snapshot) -> LakewardError:
    return ErrorCode.KV_STORAGE.error(f"The snapshot {snapshot.path} is damaged; an older one must be taken.")


def _rows_max(slot_count: int) -> int:
    return slot_count - slot_count // 4


def _slots_for(rows: int) -> int:
    slot_count = _SLOTS_MIN
    while _rows_max(slot_count) <= rows:
        slot_count *= 2
    return slot_count


def _shift_for(slot_count: int) -> int:
    return entry_kernels.HASH_BITS - (slot_count.bit_length() - 1)
