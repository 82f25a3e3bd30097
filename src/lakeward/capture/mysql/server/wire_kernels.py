"""Loops over what the server sends: packets, and the fields of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel


@kernel
def cut_packets(data: Any, begin: int, end: int, starts: Any, lengths: Any, known: int) -> tuple[int, int]:
    """Where the whole packets between two places are; how many are known then, and where the next one begins.

    It stops before a packet of 2**24 - 1 bytes, which is a part of a longer one, and when the arrays are full.
    """
    at: Any = begin
    while at + 4 <= end and known < starts.size:
        size = np.int64(data[at]) | np.int64(data[at + 1]) << 8 | np.int64(data[at + 2]) << 16
        if size == 0xFFFFFF or at + 4 + size > end:
            break
        starts[known] = at + 4
        lengths[known] = size
        known += 1
        at += 4 + size
    return known, at


@kernel
def cut_fields(data: Any, starts: Any, lengths: Any, sizes: Any, field_starts: Any, field_lengths: Any) -> int:
    """Where each field of each row of a prepared statement is, column by column; a row that cannot be read, or -1.

    `sizes` are of numbers; 0: the field says itself how long it is.
    """
    columns = field_starts.shape[0]
    for row in range(starts.size):
        nulls = starts[row] + 1
        at = nulls + (columns + 9) // 8
        end = starts[row] + lengths[row]
        for column in range(columns):
            if data[nulls + ((column + 2) >> 3)] >> ((column + 2) & 7) & 1:
                field_lengths[column, row] = -1
                field_starts[column, row] = at
                continue
            size = sizes[column]
            if size == 0:
                if at >= end:
                    return row
                size = np.int64(data[at])
                at += 1
                if size >= 0xFC:
                    width = 2 if size == 0xFC else 3 if size == 0xFD else 8
                    size = np.int64(0)
                    for j in range(width):
                        size |= np.int64(data[at + j]) << (8 * j)
                    at += width
            field_starts[column, row] = at
            field_lengths[column, row] = size
            at += size
            if at > end:
                return row
        if at != end:
            return row
    return -1
