"""Compiled: two rows of a key made one, where they lie."""

from __future__ import annotations

from typing import Any

from lakeward.records.kernels.kernel import kernel_part
from lakeward.records.kernels.memory_kernels import get_item, get_u8, put_8
from lakeward.records.kernels.row_programs import FIELD_LISTED
from lakeward.records.kernels.varint_kernels import PAST_END
from lakeward.storage.kv.merge_loop.cell_kernels import (
    ACTION,
    BITS,
    FIELD,
    INTEGER,
    IS_KEY,
    IS_TARGET,
    JOIN,
    KEEP_OLD,
    KIND,
    LAST,
    LINE_NUMBERS,
    NUMBERED,
    OK,
    chosen,
    is_null,
    put_cell,
    put_joined,
    read_cell,
)

# What holds for a whole batch.
ENGINE, DELETES, FULL_IMAGE, SCHEMA_ID, LATEST_SCHEMA_ID, COLUMNS, SAYS_NOTHING, VERSION_AT, ROW_BYTES = range(9)
NULL_BYTES, PROGRAM, HEADS, JOINTS = range(9, 13)  # addresses, but for the first
SETTINGS = 13

MERGES, DELETES_CELLS = range(2)

_LINE_BYTES = 8 * LINE_NUMBERS
_I32_MIN = -(1 << 31)
_I64_MIN = -(1 << 63)


@kernel_part
def _action(line: int, way: int) -> int:
    """What becomes of a column: a deletion clears the target columns but for the key."""
    if way == MERGES:
        action: int = get_item(line, ACTION)
        return action
    return LAST if get_item(line, IS_TARGET) != 0 and get_item(line, IS_KEY) == 0 else KEEP_OLD


@kernel_part
def _is_cut_off(heads: int, row: int, end: int, own: int) -> bool:
    return own > 0 and get_item(heads, own) > end - row


@kernel_part
def merge_row(
    settings: int,
    old: int,
    old_end: int,
    old_own: int,
    new: int,
    new_end: int,
    new_own: int,
    way: int,
    number: int,
    out: int,
) -> int:
    """Write what two rows make; a row that is not there has no columns. The address after it, or PAST_END."""
    heads, joints, columns = get_item(settings, HEADS), get_item(settings, JOINTS), get_item(settings, COLUMNS)
    if _is_cut_off(heads, old, old_end, old_own) or _is_cut_off(heads, new, new_end, new_own):
        return PAST_END
    at = out
    for _ in range(get_item(heads, columns)):
        put_8(at, 0)
        at += 1
    slot = out + get_item(settings, NULL_BYTES)
    old_at, old_slot = old + get_item(heads, old_own), old + (old_own + 7 >> 3)
    new_at, new_slot = new + get_item(heads, new_own), new + (new_own + 7 >> 3)
    for c in range(columns):
        line = get_item(settings, PROGRAM) + c * _LINE_BYTES
        slot_bytes = 4 if get_item(line, FIELD) == FIELD_LISTED else 0
        old_null, new_null = is_null(old, old_own, c), is_null(new, new_own, c)
        a, a_extra, b, b_extra = 0, 0, 0, 0
        if not old_null:
            a, a_extra, old_at = read_cell(line, old_at, old_end, old_slot)
            if old_at == PAST_END:
                return PAST_END
            old_slot += slot_bytes
        if not new_null:
            b, b_extra, new_at = read_cell(line, new_at, new_end, new_slot)
            if new_at == PAST_END:
                return PAST_END
            new_slot += slot_bytes
        action = _action(line, way)
        if action == JOIN and not old_null and not new_null:
            at = put_joined(line, joints, a, a_extra, b, b_extra, at, slot)
            slot += slot_bytes
            continue
        if action == NUMBERED and old_own == 0:
            a, old_null = number, False
        status, a, a_extra, old_null = chosen(line, action, a, a_extra, old_null, b, b_extra, new_null)
        if status != OK:
            return PAST_END
        if old_null:
            put_8(out + (c >> 3), get_u8(out + (c >> 3)) | 1 << (c & 7))
        else:
            at = put_cell(get_item(line, FIELD), a, a_extra, at, slot)
            slot += slot_bytes
    if (old_own > 0 and old_at != old_end) or (new_own > 0 and new_at != new_end):
        return PAST_END
    return at


@kernel_part
def version_of(settings: int, row: int, end: int, own: int) -> Any:
    """The cell that says which row is newer, its nanoseconds, and the end of the row: PAST_END when it is none."""
    version_at, heads = get_item(settings, VERSION_AT), get_item(settings, HEADS)
    if get_item(heads, own) > end - row:
        return 0, 0, PAST_END
    at, slot = row + get_item(heads, own), row + (own + 7 >> 3)
    version, nanos = _I64_MIN, 0
    if version_at >= 0:
        line = get_item(settings, PROGRAM) + version_at * _LINE_BYTES
        if get_item(line, KIND) == INTEGER and get_item(line, BITS) == 32:
            version = _I32_MIN
    for c in range(own):
        if is_null(row, own, c):
            continue
        line = get_item(settings, PROGRAM) + c * _LINE_BYTES
        value, extra, at = read_cell(line, at, end, slot)
        if at == PAST_END:
            return 0, 0, PAST_END
        slot += 4 if get_item(line, FIELD) == FIELD_LISTED else 0
        if c == version_at:
            version, nanos = value, extra
    return version, nanos, at if at == end else PAST_END


@kernel_part
def has_other_cells(settings: int, row: int, own: int) -> bool:
    """Whether a row has more than the columns that a request speaks of."""
    for c in range(own):
        line = get_item(settings, PROGRAM) + c * _LINE_BYTES
        if get_item(line, IS_TARGET) == 0 and not is_null(row, own, c):
            return True
    return False
