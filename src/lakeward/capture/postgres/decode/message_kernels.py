"""Compiled loops over the messages of a logical replication stream (`pgoutput`, protocol 1).

A bulk is many CopyData messages behind each other, n + 1 bounds. Each is a keepalive or carries, behind a head of 25
bytes, one message of the plugin: begin, commit, relation, or the change of a row.
"""

from __future__ import annotations

import numpy as np

from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.spans import I64, U8

#: Bytes of XLogData before the plugin's message: 'w', start, end, time.
HEAD_BYTES = 25
NULL, UNCHANGED = -1, -2
_B, _I, _U, _D, _R = ord("B"), ord("I"), ord("U"), ord("D"), ord("R")
_O_OLD, _N_NEW = ord("O"), ord("N")
_NULL_CELL, _UNCHANGED_CELL, _TEXT_CELL = ord("n"), ord("u"), ord("t")
_KEEPALIVE, _DATA = ord("k"), ord("w")
_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 1, 2, 3, 4
#: Columns of what `scan_messages` writes for each message.
KIND, RELATION, LSN, TIME, XID = range(5)


@kernel_part
def _number(data: U8, at: int, width: int) -> int:
    value = np.int64(0)
    for n in range(width):
        value = (value << 8) | np.int64(data[at + n])
    return value  # type: ignore[return-value]


@kernel
def scan_messages(data: U8, bounds: I64, state: I64, found: I64) -> None:
    """Write kind, relation, and the transaction's LSN, time and xid of each message; `state` holds the last three.

    A keepalive is of kind 'k', and its LSN is how far the server has read its log.
    """
    for n in range(len(bounds) - 1):
        at, end = bounds[n], bounds[n + 1]
        found[n, KIND] = 0
        if data[at] == _KEEPALIVE and end - at >= 9:
            found[n, KIND] = _KEEPALIVE
            found[n, LSN] = _number(data, at + 1, 8)
            continue
        if data[at] != _DATA or end - at <= HEAD_BYTES:
            continue
        at += HEAD_BYTES
        kind = np.int64(data[at])
        found[n, KIND] = kind
        if kind == _B and end - at >= 21:
            state[0], state[1], state[2] = _number(data, at + 1, 8), _number(data, at + 9, 8), _number(data, at + 17, 4)
        elif end - at >= 5 and kind in (_I, _U, _D, _R):
            found[n, RELATION] = _number(data, at + 1, 4)
        found[n, LSN], found[n, TIME], found[n, XID] = state[0], state[1], state[2]


@kernel_part
def _read_tuple(data: U8, at: int, end: int, starts: I64, lengths: I64, row: int) -> int:
    """Where the tuple ends; -1 where it is not what it should be."""
    if at + 2 > end or _number(data, at, 2) != starts.shape[0]:
        return -1
    at += 2
    for column in range(starts.shape[0]):
        if at >= end:
            return -1
        cell = data[at]
        at += 1
        starts[column, row] = at
        if cell == _TEXT_CELL:
            if at + 4 > end:
                return -1
            length = _number(data, at, 4)
            at += 4
            starts[column, row], lengths[column, row] = at, length
            at += length
            if at > end:
                return -1
        elif cell == _NULL_CELL:
            lengths[column, row] = NULL
        elif cell == _UNCHANGED_CELL:
            lengths[column, row] = UNCHANGED
        else:
            return -1
    return at


@kernel_part
def _is_same_key(data: U8, keys: I64, starts: I64, lengths: I64, row: int) -> bool:
    """Whether two neighbouring rows have the same key."""
    for column in keys:
        one, other = starts[column, row], starts[column, row + 1]
        length = lengths[column, row]
        if lengths[column, row + 1] == UNCHANGED:
            continue
        if length != lengths[column, row + 1]:
            return False
        for n in range(length):
            if data[one + n] != data[other + n]:
                return False
    return True


@kernel
def read_rows(data: U8, bounds: I64, chosen: I64, keys: I64, starts: I64, lengths: I64, kinds: U8, sources: I64) -> int:
    """Rows of the chosen messages, all of one relation: cells by column and row, what each row is, and its message.

    Room for two rows a message is needed. Returns how many there are, or -1 - n where message n is broken. A value that
    an update did not send is taken from the old row where that was sent whole.
    """
    row = 0
    for n in range(len(chosen)):
        at, end = bounds[chosen[n]] + HEAD_BYTES, bounds[chosen[n] + 1]
        kind, tag = data[at], data[at + 5]
        sources[row] = chosen[n]
        at = _read_tuple(data, at + 6, end, starts, lengths, row)
        if at < 0:
            return -1 - n
        if kind == _I:
            kinds[row] = _INSERT
        elif kind == _D:
            kinds[row] = _DELETE
        elif tag == _N_NEW:
            kinds[row] = _UPDATE_AFTER
        else:
            if at >= end or data[at] != _N_NEW or _read_tuple(data, at + 1, end, starts, lengths, row + 1) < 0:
                return -1 - n
            same = _is_same_key(data, keys, starts, lengths, row)
            if tag == _O_OLD or not same:
                for column in range(starts.shape[0]):
                    # Of a row that is known by its key alone, only the key is known.
                    is_known = tag == _O_OLD or (lengths[column, row] >= 0)
                    if lengths[column, row + 1] == UNCHANGED and is_known:
                        starts[column, row + 1] = starts[column, row]
                        lengths[column, row + 1] = lengths[column, row]
                kinds[row] = _UPDATE_BEFORE if same else _DELETE
                row += 1
                sources[row] = chosen[n]
                kinds[row] = _UPDATE_AFTER if same else _INSERT
            else:  # the old key was sent, and is the new one
                for column in range(starts.shape[0]):
                    if lengths[column, row + 1] == UNCHANGED and lengths[column, row] >= 0:
                        continue
                    starts[column, row], lengths[column, row] = starts[column, row + 1], lengths[column, row + 1]
                kinds[row] = _UPDATE_AFTER
        row += 1
    return row
