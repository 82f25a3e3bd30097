"""The compiled loop of a put whose rows meet those that are there: merge engines, some columns of a row, numbered rows.

It does what the mergers of `merge` do, cell by cell on the bytes of the rows. Whatever it does not understand, or would
refuse, it leaves to them (`PYTHON`): they find the words, and nothing has happened yet.
"""

from __future__ import annotations

from typing import Any

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import address, copy_bytes, get_i16, get_item, get_u8, put_16
from lakeward.records.kernels.spans import I64, U8
from lakeward.records.kernels.varint_kernels import PAST_END
from lakeward.storage.kv.hash.entry_kernels import equal_bytes, hash_of
from lakeward.storage.kv.merge.changelog import ChangeType
from lakeward.storage.kv.merge.value_rows import SCHEMA_ID_BYTES
from lakeward.storage.kv.merge_loop.cell_kernels import MORE_ROOM, OK, PYTHON
from lakeward.storage.kv.merge_loop.row_kernels import (
    DELETES,
    DELETES_CELLS,
    ENGINE,
    FULL_IMAGE,
    LATEST_SCHEMA_ID,
    MERGES,
    ROW_BYTES,
    SAYS_NOTHING,
    SCHEMA_ID,
    has_other_cells,
    merge_row,
    version_of,
)

OLD, NEW = 0, 1  # buffers that values lie in
FIRST_ROW, VERSIONED, AGGREGATION, SOME_COLUMNS = range(4)
ALLOW, IGNORE, DISABLE = range(3)
KEPT, REMOVED, WRITTEN = range(3)

_INSERT, _DELETE = int(ChangeType.INSERT), int(ChangeType.DELETE)
_UPDATE_BEFORE, _UPDATE_AFTER = int(ChangeType.UPDATE_BEFORE), int(ChangeType.UPDATE_AFTER)

# How far the loop has come.
DONE, USED_BYTES, NEEDED_BYTES, TOUCHED, CHANGES, NUMBERS_USED = range(6)
PROGRESS = 6


@kernel_part
def _delete(settings: int, old: int, old_end: int, old_own: int, out: int) -> Any:
    """What becomes of a row when its deletion arrives: status, fate, the end of what is written."""
    deletes = get_item(settings, DELETES)
    if deletes == DISABLE:
        return PYTHON, KEPT, out
    if old_own == 0 or deletes == IGNORE:
        return OK, KEPT, out
    if get_item(settings, ENGINE) != SOME_COLUMNS or not has_other_cells(settings, old, old_own):
        return OK, REMOVED, out
    end = merge_row(settings, old, old_end, old_own, old, old, 0, DELETES_CELLS, 0, out)
    return OK if end != PAST_END else PYTHON, WRITTEN, end


@kernel_part
def _upsert(
    settings: int, old: int, old_end: int, old_own: int, new: int, new_end: int, new_own: int, number: int, out: int
) -> Any:
    """What becomes of a key when a row arrives: status, fate, the end of what is written, or 0: the row as it came."""
    engine = get_item(settings, ENGINE)
    if engine == FIRST_ROW:
        return OK, WRITTEN if old_own == 0 else KEPT, 0
    if engine == VERSIONED or (engine == SOME_COLUMNS and old_own > 0 and get_item(settings, SAYS_NOTHING) != 0):
        version, nanos, end = version_of(settings, new, new_end, new_own)
        if end == PAST_END:
            return PYTHON, KEPT, 0
        if engine == SOME_COLUMNS:
            return OK, KEPT, 0
        if old_own > 0:
            before, before_nanos, end = version_of(settings, old, old_end, old_own)
            if end == PAST_END:
                return PYTHON, KEPT, 0
            if version < before or (version == before and nanos < before_nanos):
                return OK, KEPT, 0
        return OK, WRITTEN, 0
    if engine == AGGREGATION and old_own == 0:
        return OK, WRITTEN, 0
    end = merge_row(settings, old, old_end, old_own, new, new_end, new_own, MERGES, number, out)
    return OK if end != PAST_END else PYTHON, WRITTEN, end


@kernel_part
def _own_columns(widths: int, count: int, schema_id: int) -> int:
    """How many columns a row has that was written under a schema; 0 where that is not for us to read."""
    return get_item(widths, schema_id) if 0 < schema_id < count else 0


@kernel_part
def _lacks(row: int, end: int, own: int, required: int) -> bool:
    """Whether a row is NULL where it must not be, or too short to say so."""
    size = own + 7 >> 3
    if size > end - row:
        return True
    nulls = 0
    for i in range(size):
        nulls |= get_u8(row + i) & get_u8(required + i)
    return nulls != 0


@kernel_part
def _first_of_key(slots: int, mask: int, data: int, starts: int, ends: int, record: int) -> int:
    """The first record that has the key of this one."""
    key, size = data + get_item(starts, record), get_item(ends, record) - get_item(starts, record)
    place = hash_of(key, size) & mask
    return _find(slots, mask, data, starts, ends, record, place, key, size)


@kernel_part
def _find(
    slots: int, mask: int, data: int, starts: int, ends: int, record: int, place: int, key: int, size: int
) -> int:
    while True:
        other: int = get_item(slots, place)
        if other < 0:
            return -1 - place
        begin = get_item(starts, other)
        if other == record or (get_item(ends, other) - begin == size and equal_bytes(data + begin, key, size)):
            return other
        place = place + 1 & mask


@kernel
def merge(
    settings: I64,
    widths: I64,
    required: U8,
    numbers: I64,
    data: U8,
    records: I64,
    slots: I64,
    old: U8,
    state: I64,
    out: U8,
    written: I64,
    shown: I64,
    progress: I64,
) -> int:
    """Merge records in order, those after `progress`, until all are done or `out` is full.

    `records`: starts and ends of keys, starts and ends of rows in `data`, −1 where the key is deleted. `state`: starts
    and ends of the values of these keys in `old`, −1 where there is none, and which buffer they lie in; it is kept up
    for the first record of each key. `written`: records that change something, with starts and ends of the values in
    `out`, −1 for a row that goes. `shown`: changes: kind, buffer, start, end.
    """
    table, base, target = address(settings), address(data), address(out)
    key_starts, key_ends = address(records), address(records) + 8 * records.shape[1]
    new_own = _own_columns(address(widths), len(widths), settings[SCHEMA_ID])
    if new_own == 0:
        return PYTHON
    for i in range(progress[DONE], records.shape[1]):
        first = _first_of_key(address(slots), len(slots) - 1, base, key_starts, key_ends, i)
        if first < 0:
            slots[-1 - first] = first = i
        is_there, size = state[0, first] >= 0, state[1, first] - state[0, first]
        begin, most = progress[USED_BYTES], SCHEMA_ID_BYTES + settings[ROW_BYTES] + records[3, i] - records[2, i] + size
        if most > len(out) - begin:
            progress[DONE], progress[NEEDED_BYTES] = i, most
            return MORE_ROOM
        old_row = (address(old) if state[2, first] == OLD else target) + state[0, first] + SCHEMA_ID_BYTES
        old_end, old_own = old_row - SCHEMA_ID_BYTES + size, 0
        if is_there:
            old_own = _own_columns(address(widths), len(widths), get_i16(old_row - SCHEMA_ID_BYTES))
            if old_own == 0:
                return PYTHON
        row = target + begin + SCHEMA_ID_BYTES
        new, new_end = base + records[2, i], base + records[3, i]
        if records[2, i] < 0:
            status, fate, end = _delete(table, old_row, old_end, old_own, row)
        elif _lacks(new, new_end, new_own, address(required)):
            return PYTHON
        else:
            number = 0
            if not is_there and len(numbers) > 0:
                if progress[NUMBERS_USED] == len(numbers):
                    return PYTHON
                number = numbers[progress[NUMBERS_USED]]
                progress[NUMBERS_USED] += 1
            status, fate, end = _upsert(table, old_row, old_end, old_own, new, new_end, new_own, number, row)
        if status != OK:
            return PYTHON
        if fate == KEPT:
            continue
        touched, change = progress[TOUCHED], progress[CHANGES]
        progress[TOUCHED] += 1
        if is_there and (fate == REMOVED or settings[FULL_IMAGE] != 0):
            shown[0, change], shown[1, change] = _DELETE if fate == REMOVED else _UPDATE_BEFORE, state[2, first]
            shown[2, change], shown[3, change] = state[0, first], state[1, first]
            change += 1
        after, after_end = -1, -1
        if fate == WRITTEN:
            put_16(row - SCHEMA_ID_BYTES, settings[SCHEMA_ID] if end == 0 else settings[LATEST_SCHEMA_ID])
            if end == 0:
                copy_bytes(row, new, new_end - new)
                end = row + new_end - new
            after, after_end = begin, end - target
            shown[0, change], shown[1, change] = _UPDATE_AFTER if is_there else _INSERT, NEW
            shown[2, change], shown[3, change] = after, after_end
            change += 1
            progress[USED_BYTES] = after_end
        progress[CHANGES] = change
        written[0, touched], written[1, touched], written[2, touched] = i, after, after_end
        state[0, first], state[1, first], state[2, first] = after, after_end, NEW
    progress[DONE] = records.shape[1]
    return OK
