"""Loops over events of the binlog: their heads, and the rows in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part


@kernel_part
def _little_endian(data: Any, at: int, width: int) -> Any:
    value = np.int64(0)
    for j in range(width):
        value |= np.int64(data[at + j]) << (8 * j)
    return value


@kernel
def read_heads(data: Any, starts: Any, heads: Any) -> None:
    """Of each packet with an event: its kind, when it was written in seconds, and where the next one begins."""
    for i in range(starts.size):
        at = starts[i] + 1
        heads[0, i] = data[at + 4]
        heads[1, i] = _little_endian(data, at, 4)
        heads[2, i] = _little_endian(data, at + 13, 4)


@kernel
def find_boundary(data: Any, starts: Any, begin: int, segment_bytes: int, state: Any) -> int:
    """The number of packets up to where a block ends; 0 if that is not among them.

    A block ends with its file, where the next stretch of the file begins, and at the goal: always at the same events,
    however they arrive. `state`: the stretch that was reached, the goal's place if it is in this file, else -1, and
    how often the server said that it has nothing to say.
    """
    for i in range(begin, starts.size):
        at = starts[i] + 1
        kind, place = data[at + 4], _little_endian(data, at + 13, 4)
        if kind == 27:
            state[2] += 1
            continue
        if kind == 4:
            return i + 1
        if place == 0:
            continue
        if state[1] >= 0 and place >= state[1]:
            return i + 1
        if place // segment_bytes != state[0]:
            state[0] = place // segment_bytes
            return i + 1
    return 0


@kernel
def cut_rows(
    data: Any,
    begins: Any,
    ends: Any,
    is_update: Any,
    sizes: Any,
    prefixes: Any,
    cell_starts: Any,
    cell_lengths: Any,
    event_of: Any,
    state: Any,
) -> int:
    """Where each value of each row image is, column by column, and of which event the image is.

    `sizes` are of values of one width, `prefixes` say how many bytes hold the length of the others. `state` is where
    to go on (event, place in it, images so far) when the arrays are full. 0: done; 1: the arrays are full; 2: damaged.
    """
    columns, room = cell_starts.shape
    null_bytes = (columns + 7) // 8
    event, at, row = state[0], state[1], state[2]
    while event < begins.size:
        if at < begins[event]:
            at = begins[event]
        while at < ends[event]:
            # both images of an update are in the same arrays
            if row + (2 if is_update[event] else 1) > room:
                state[0], state[1], state[2] = event, at, row
                return 1
            for _ in range(2 if is_update[event] else 1):
                nulls = at
                at += null_bytes
                if at > ends[event]:
                    return 2
                for column in range(columns):
                    if data[nulls + (column >> 3)] >> (column & 7) & 1:
                        cell_lengths[column, row] = -1
                        cell_starts[column, row] = at
                        continue
                    size = sizes[column]
                    if prefixes[column]:
                        if at + prefixes[column] > ends[event]:
                            return 2
                        size = _little_endian(data, at, prefixes[column])
                        at += prefixes[column]
                    cell_starts[column, row] = at
                    cell_lengths[column, row] = size
                    at += size
                    if at > ends[event]:
                        return 2
                event_of[row] = event
                row += 1
        event += 1
        at = 0
    state[0], state[1], state[2] = event, at, row
    return 0


@kernel
def count_rows(data: Any, at: int, end: int, sizes: Any, prefixes: Any) -> int:
    """How many row images there are between two places."""
    columns, count = sizes.size, 0
    while at < end:
        nulls = at
        at += (columns + 7) // 8
        if at > end:
            break
        for column in range(columns):
            if at + prefixes[column] > end:
                break
            if not data[nulls + (column >> 3)] >> (column & 7) & 1:
                size = sizes[column]
                if prefixes[column]:
                    size = _little_endian(data, at, prefixes[column])
                    at += prefixes[column]
                at += size
        count += 1
    return count


@kernel
def mark_new_keys(data: Any, cell_starts: Any, cell_lengths: Any, keys: Any, kinds: Any) -> None:
    """Updates whose key is another afterwards are a delete and an insert."""
    for row in range(kinds.size):
        if kinds[row] != 2:
            continue
        same = True
        for k in range(keys.size):
            column = keys[k]
            size = cell_lengths[column, row]
            if size != cell_lengths[column, row + 1]:
                same = False
                break
            for j in range(max(size, 0)):
                if data[cell_starts[column, row] + j] != data[cell_starts[column, row + 1] + j]:
                    same = False
                    break
        if not same:
            kinds[row] = 4
            kinds[row + 1] = 1
