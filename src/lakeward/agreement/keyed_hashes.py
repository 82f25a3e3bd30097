"""Rows by key, as hashes: what a changelog leaves of each key, what a state or a lake holds, and where they differ.

A key costs about thirty bytes. A bucket with very many changes is looked at in several parts, by the hash of the key,
so that memory has a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakeward.agreement.row_hashes import I64, U64

#: Changes that one part takes, about.
PART_CHANGES = 20_000_000
_FOLD_ROWS = 1 << 20
Flags = NDArray[np.bool_]


class Part(NamedTuple):
    """Some of the keys: those whose hash leaves `number` when it is divided by `of`."""

    number: int = 0
    of: int = 1

    def has(self, keys: U64) -> Flags:
        """Which keys belong to it."""
        own: Flags = keys % np.uint64(self.of) == np.uint64(self.number)
        return own


ALL_KEYS = Part()


def parts_of(changes: int) -> Iterator[Part]:
    """The parts of a bucket with this many changes."""
    count = max(-(-changes // PART_CHANGES), 1)
    return (Part(number, count) for number in range(count))


class LastChanges:
    """The last change of each key, as the changes come."""

    def __init__(self, part: Part = ALL_KEYS) -> None:
        self._part = part
        self.keys: U64 = np.empty(0, np.uint64)
        self.rows: U64 = np.empty(0, np.uint64)
        self.offsets: I64 = np.empty(0, np.int64)
        #: Whether the row is there after it.
        self.is_there: Flags = np.empty(0, np.bool_)
        self._new: list[tuple[U64, U64, I64, Flags]] = []
        self._new_rows = 0

    def add(self, keys: U64, rows: U64, offsets: I64, is_there: Flags) -> None:
        """Take changes, in the order of the log."""
        if self._part.of > 1:
            own = self._part.has(keys)
            keys, rows, offsets, is_there = keys[own], rows[own], offsets[own], is_there[own]
        self._new.append((keys, rows, offsets, is_there))
        self._new_rows += len(keys)
        if self._new_rows >= max(_FOLD_ROWS, len(self.keys)):
            self.fold()

    def fold(self) -> None:
        """Apply what has come; afterwards the columns are sorted by key, each key once."""
        if not self._new:
            return
        known = (self.keys, self.rows, self.offsets, self.is_there)
        keys, rows, offsets, is_there = (np.concatenate(column) for column in zip(known, *self._new, strict=True))
        self._new, self._new_rows = [], 0
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        last = np.append(keys[1:] != keys[:-1], True) if len(keys) else np.empty(0, np.bool_)
        chosen = order[last]
        self.keys, self.rows, self.offsets, self.is_there = (
            keys[last],
            rows[chosen],
            offsets[chosen],
            is_there[chosen],
        )


class FoundRows:
    """The rows that somebody holds, by key."""

    def __init__(self, part: Part = ALL_KEYS) -> None:
        self._part = part
        self._found: list[tuple[U64, U64]] = []

    def add(self, keys: U64, rows: U64) -> None:
        """Take rows."""
        if self._part.of > 1:
            own = self._part.has(keys)
            keys, rows = keys[own], rows[own]
        self._found.append((keys, rows))

    def by_key(self) -> tuple[U64, U64]:
        """Keys and rows in the order of the keys; a key that is there twice stands there twice."""
        if not self._found:
            return np.empty(0, np.uint64), np.empty(0, np.uint64)
        keys, rows = (np.concatenate(column) for column in zip(*self._found, strict=True))
        order = np.argsort(keys, kind="stable")
        return keys[order], rows[order]


@dataclass(slots=True)
class KeyDifferences:
    """Keys in which a holder of rows and the changelog do not agree; the offset is that of the key's last change."""

    lost: dict[int, int] = field(default_factory=dict)
    undead: dict[int, int] = field(default_factory=dict)
    changed: dict[int, int] = field(default_factory=dict)
    #: There, and no change of the log made them.
    unknown: list[int] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    #: Keys that agree, that are older than the log, and that changed while they were looked at.
    same: int = 0
    older: int = 0
    moving: int = 0

    def __iter__(self) -> Iterator[tuple[str, int, int | None]]:
        """Kind, key and offset of each."""
        for kind, found in (("lost", self.lost), ("undead", self.undead), ("changed", self.changed)):
            yield from ((kind, key, offset) for key, offset in found.items())
        yield from (("unknown", key, None) for key in self.unknown)
        yield from (("twice", key, None) for key in self.twice)


def compare(changes: LastChanges, found: FoundRows, *, is_complete: bool, settled_to: int) -> KeyDifferences:
    """What a holder of rows says against what the changelog leaves.

    `is_complete`: the changelog has every change there ever was. Keys that changed at or behind `settled_to` may be
    seen before or after it and are left out.
    """
    changes.fold()
    keys, rows = found.by_key()
    out = KeyDifferences()
    repeated = np.unique(keys[1:][keys[1:] == keys[:-1]])
    out.twice = repeated.tolist()
    if len(repeated):
        first = np.append(True, keys[1:] != keys[:-1])
        keys, rows = keys[first], rows[first]
    at = np.searchsorted(changes.keys, keys)
    known = np.zeros(len(keys), np.bool_)
    within = at < len(changes.keys)
    known[within] = changes.keys[at[within]] == keys[within]
    if is_complete:
        out.unknown = keys[~known].tolist()
    else:
        out.older = int((~known).sum())
    keys, rows, at = keys[known], rows[known], at[known]
    settled = changes.offsets < settled_to
    out.moving = int((~settled).sum())
    is_found = np.zeros(len(changes.keys), np.bool_)
    is_found[at] = True
    lost = settled & changes.is_there & ~is_found
    out.lost = dict(zip(changes.keys[lost].tolist(), changes.offsets[lost].tolist(), strict=True))
    undead = settled[at] & ~changes.is_there[at]
    out.undead = dict(zip(keys[undead].tolist(), changes.offsets[at][undead].tolist(), strict=True))
    both = settled[at] & changes.is_there[at]
    changed = both & (changes.rows[at] != rows)
    out.changed = dict(zip(keys[changed].tolist(), changes.offsets[at][changed].tolist(), strict=True))
    out.same = int(both.sum()) - len(out.changed)
    return out
