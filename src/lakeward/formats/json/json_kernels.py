"""JSON cut into its values, which stay where they are: everything is checked, nothing is copied. It loads numba."""

from __future__ import annotations

import numpy as np

from lakeward.formats.json.json_grammar_kernels import DEPTH_MAX, FAIL, TOO_DEEP, cut_value, skip_blanks, string_end
from lakeward.formats.values.text_kernels import unescape
from lakeward.formats.values.values import ARRAY, ESCAPED, I64, MISSING, OBJECT, STRING, U8
from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import address, get_i64, get_u8

#: What is wrong with a message.
RIGHT, NOT_JSON, DEEP, MORE = range(4)

_QUOTE, _COMMA, _COLON = 34, 44, 58
_LEFT_BRACKET, _LEFT_BRACE, _RIGHT_BRACE = 91, 123, 125


@kernel_part
def _column_of(key: int, size: int, names: int, bounds: I64, guess: int) -> int:
    """The column of that name, or -1; most often it is the one after the last."""
    columns = len(bounds) - 1
    for turn in range(columns):
        column = guess + turn
        if column >= columns:
            column -= columns
        start = bounds[column]
        if bounds[column + 1] - start != size:
            continue
        at = 0
        while at + 8 <= size and get_i64(key + at) == get_i64(names + start + at):
            at += 8
        while at < size and get_u8(key + at) == get_u8(names + start + at):
            at += 1
        if at == size:
            return column
    return -1


@kernel
def cut_objects(
    starts: I64,
    ends: I64,
    kinds: U8,
    names: U8,
    bounds: I64,
    scratch: U8,
    stack: U8,
    out_starts: I64,
    out_ends: I64,
    out_kinds: U8,
    wrong: U8,
) -> None:
    """The values of each object by column; of a key that comes twice, the last. What is no OBJECT is left alone."""
    stack_at, names_at, scratch_at = address(stack), address(names), address(scratch)
    columns = len(bounds) - 1
    for row in range(len(starts)):
        if kinds[row] != OBJECT:
            continue
        end, fault, guess = ends[row], RIGHT, 0
        at = skip_blanks(starts[row] + 1, end)
        if at < end and get_u8(at) == _RIGHT_BRACE:
            at += 1
        else:
            while True:
                if at >= end or get_u8(at) != _QUOTE:
                    fault = NOT_JSON
                    break
                key = at + 1
                stop, key_kind = string_end(key, end)
                at = FAIL if stop == FAIL else skip_blanks(stop + 1, end)
                if at == FAIL or at >= end or get_u8(at) != _COLON:
                    fault = NOT_JSON
                    break
                at, first, last, kind = cut_value(at + 1, end, stack_at)
                if at < 0:
                    fault = DEEP if at == TOO_DEEP else NOT_JSON
                    break
                if key_kind == ESCAPED:
                    column = -1
                    if stop - key <= len(scratch):
                        column = _column_of(
                            scratch_at, unescape(key, stop, scratch_at) - scratch_at, names_at, bounds, 0
                        )
                else:
                    column = _column_of(key, stop - key, names_at, bounds, guess)
                if column >= 0:
                    out_starts[column, row], out_ends[column, row], out_kinds[column, row] = first, last, kind
                    guess = column + 1 if column + 1 < columns else 0
                at = skip_blanks(at, end)
                c = get_u8(at) if at < end else 0
                at += 1
                if c == _RIGHT_BRACE:
                    break
                if c != _COMMA:
                    fault = NOT_JSON
                    break
                at = skip_blanks(at, end)
        if fault == RIGHT and skip_blanks(at, end) != end:
            fault = MORE
        if fault != RIGHT:
            wrong[row] = fault
            for column in range(columns):
                out_kinds[column, row] = MISSING


@kernel
def look_at_roots(starts: I64, ends: I64, kinds: U8) -> None:
    """What each message is, by its first character; blanks before it are cut off in place. MISSING is nothing."""
    for row in range(len(starts)):
        at = skip_blanks(starts[row], ends[row])
        starts[row] = at
        if at == ends[row]:
            kinds[row] = MISSING
        elif get_u8(at) == _LEFT_BRACE:
            kinds[row] = OBJECT
        elif get_u8(at) == _LEFT_BRACKET:
            kinds[row] = ARRAY
        else:
            kinds[row] = STRING


@kernel
def cut_lists(
    starts: I64,
    ends: I64,
    kinds: U8,
    wanted: int,
    stack: U8,
    counts: I64,
    wrong: U8,
    keys: I64,
    key_ends: I64,
    key_kinds: U8,
    out_starts: I64,
    out_ends: I64,
    out_kinds: U8,
) -> None:
    """What is in each ARRAY, or the entries of each OBJECT, as wanted; without room for them they are only counted."""
    stack_at, is_filling, to = address(stack), len(out_starts) > 0, 0
    for row in range(len(starts)):
        counts[row] = 0
        if kinds[row] != wanted or wrong[row] != RIGHT:
            continue
        end, fault, mark = ends[row], RIGHT, to
        at = skip_blanks(starts[row] + 1, end)
        if at < end and get_u8(at) == get_u8(starts[row]) + 2:
            at += 1
        else:
            while True:
                first_key, last_key, key_kind = 0, 0, MISSING
                if wanted == OBJECT:
                    at = skip_blanks(at, end)
                    first_key = at + 1
                    at = FAIL if at >= end or get_u8(at) != _QUOTE else at
                    if at != FAIL:
                        last_key, key_kind = string_end(first_key, end)
                        at = FAIL if last_key == FAIL else skip_blanks(last_key + 1, end)
                    if at == FAIL or at >= end or get_u8(at) != _COLON:
                        fault = NOT_JSON
                        break
                    at += 1
                at, first, last, kind = cut_value(at, end, stack_at)
                if at < 0:
                    fault = DEEP if at == TOO_DEEP else NOT_JSON
                    break
                if is_filling:
                    out_starts[to], out_ends[to], out_kinds[to] = first, last, kind
                    if wanted == OBJECT:
                        keys[to], key_ends[to], key_kinds[to] = first_key, last_key, key_kind
                to += 1
                at = skip_blanks(at, end)
                c = get_u8(at) if at < end else 0
                at += 1
                if c == get_u8(starts[row]) + 2:
                    break
                if c != _COMMA:
                    fault = NOT_JSON
                    break
        if fault == RIGHT and skip_blanks(at, end) != end:
            fault = MORE
        if fault != RIGHT:
            wrong[row] = fault
            to = mark
        counts[row] = to - mark


def cut_columns(starts: I64, ends: I64, kinds: U8, names: tuple[bytes, ...]) -> tuple[I64, I64, U8, U8]:
    """Starts, ends and kinds of the values of each object, by column and row, and what is wrong with it."""
    shape = (len(names), len(starts))
    out_starts, out_ends, out_kinds = np.empty(shape, np.int64), np.empty(shape, np.int64), np.zeros(shape, np.uint8)
    wrong = np.zeros(len(starts), np.uint8)
    bounds = np.zeros(len(names) + 1, np.int64)
    np.cumsum([len(name) for name in names], out=bounds[1:])
    whole = np.frombuffer(b"".join(names) + bytes(8), np.uint8).copy()
    scratch = np.empty(6 * max(map(len, names), default=0) + 8, np.uint8)
    stack = np.empty(DEPTH_MAX, np.uint8)
    cut_objects(starts, ends, kinds, whole, bounds, scratch, stack, out_starts, out_ends, out_kinds, wrong)
    return out_starts, out_ends, out_kinds, wrong


def cut_entries(
    starts: I64, ends: I64, kinds: U8, wanted: int
) -> tuple[I64, U8, tuple[I64, I64, U8], tuple[I64, I64, U8]]:
    """How many entries each list or object has, what is wrong with it, and its keys and values."""
    counts, wrong, stack = (
        np.zeros(len(starts), np.int64),
        np.zeros(len(starts), np.uint8),
        np.empty(DEPTH_MAX, np.uint8),
    )
    none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
    cut_lists(starts, ends, kinds, wanted, stack, counts, wrong, *none, *none)
    total = int(counts.sum())
    if not total:
        return counts, wrong, none, none
    keys, values = ((np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.uint8)) for _ in range(2))
    cut_lists(starts, ends, kinds, wanted, stack, counts, wrong, *keys, *values)
    return counts, wrong, keys, values
