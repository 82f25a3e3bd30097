"""Lines of CSV cut into their fields. It loads numba."""

from __future__ import annotations

import numpy as np

from lakeward.formats.values.values import I64, NULL, STRING, U8
from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import address, get_u8, put_8

#: What is wrong with a line.
RIGHT, OPEN_QUOTE, AFTER_QUOTE = range(3)
NONE = -1


@kernel
def cut_lines(
    starts: I64,
    ends: I64,
    delimiter: int,
    quote: int,
    escape: int,
    out: U8,
    out_starts: I64,
    out_ends: I64,
    out_kinds: U8,
    counts: I64,
    wrong: U8,
) -> None:
    """Fields by column and row, written out without quotes and escapes; NULL is a field of which nothing is written."""
    columns, to = len(out_starts), address(out)
    for row in range(len(starts)):
        at, end, column = starts[row], ends[row], 0
        while end > at and get_u8(end - 1) in (10, 13):
            end -= 1
        while True:
            begin, is_open, was_quoted = to, False, False
            if at < end and get_u8(at) == quote:
                is_open, was_quoted = True, True
                at += 1
            while at < end:
                c = get_u8(at)
                if c == escape and at + 1 < end:
                    at += 1
                    c = get_u8(at)
                elif is_open:
                    if c == quote:
                        if at + 1 < end and get_u8(at + 1) == quote:
                            at += 1
                        else:
                            is_open = False
                            at += 1
                            continue
                elif c == delimiter:
                    break
                elif was_quoted:
                    wrong[row] = AFTER_QUOTE
                put_8(to, c)
                to += 1
                at += 1
            if is_open:
                wrong[row] = OPEN_QUOTE
            if column < columns:
                out_starts[column, row], out_ends[column, row] = begin, to
                out_kinds[column, row] = STRING if was_quoted or to > begin else NULL
            column += 1
            if at >= end:
                break
            at += 1
        counts[row] = column


def fields_of(
    starts: I64, ends: I64, columns: int, delimiter: str, quote: str | None, escape: str | None
) -> tuple[U8, I64, I64, U8, I64, U8]:
    """The texts of all fields, where each lies and what it is, how many fields each line has, what is wrong with it."""
    out = np.empty(int((ends - starts).sum()) + 1, np.uint8)
    shape = (columns, len(starts))
    out_starts, out_ends, kinds = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.uint8)
    counts, wrong = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.uint8)
    quote_byte, escape_byte = (NONE if mark is None else ord(mark) for mark in (quote, escape))
    cut_lines(starts, ends, ord(delimiter), quote_byte, escape_byte, out, out_starts, out_ends, kinds, counts, wrong)
    return out, out_starts, out_ends, kinds, counts, wrong
