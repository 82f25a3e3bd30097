"""Rows of one bucket by offset: counts and sums of hashes for stretches of offsets, in any order. Bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lakeward.agreement.row_hashes import I64, U64, mix

#: Stretches that all buckets of a table may have together; each costs two numbers.
_STRETCHES_MAX = 1 << 20
_STRETCHES_A_BUCKET = 1 << 16


class OffsetSums:
    """What was seen of the offsets from `start` up to, not including, `stop`."""

    def __init__(self, start: int, stop: int, buckets: int = 1) -> None:
        """`buckets` is how many of these there are at a time."""
        self.start = start
        self.stop = max(stop, start)
        stretches = max(min(_STRETCHES_A_BUCKET, _STRETCHES_MAX // max(buckets, 1)), 1)
        self._width = max(-(-(self.stop - start) // stretches), 1)
        size = -(-(self.stop - start) // self._width)
        self._counts: I64 = np.zeros(size, np.int64)
        self._sums: U64 = np.zeros(size, np.uint64)
        #: Rows before `start`, of which the other side knows nothing, and rows at or behind `stop`.
        self.older = 0
        self.newer = 0

    @property
    def rows(self) -> int:
        """How many rows lie between start and stop."""
        return int(self._counts.sum())

    @property
    def checksum(self) -> int:
        """One number for all of them."""
        return int(self._sums.sum())

    def add(self, offsets: I64, hashes: U64) -> None:
        """Take rows."""
        inside: NDArray[np.bool_] = (offsets >= self.start) & (offsets < self.stop)
        self.older += int((offsets < self.start).sum())
        self.newer += int((offsets >= self.stop).sum())
        if not inside.all():
            offsets, hashes = offsets[inside], hashes[inside]
        if not len(offsets):
            return
        at = (offsets - self.start) // self._width
        np.add.at(self._counts, at, 1)
        np.add.at(self._sums, at, place_hashes(offsets, hashes))

    def first_difference(self, other: OffsetSums) -> tuple[int, int] | None:
        """The first stretch of offsets in which two of the same range do not hold the same rows."""
        differ = np.flatnonzero((self._counts != other._counts) | (self._sums != other._sums))
        if not len(differ):
            return None
        first = self.start + int(differ[0]) * self._width
        return first, min(first + self._width, self.stop)

    def difference_count(self, other: OffsetSums) -> int:
        """How many stretches differ."""
        return int(((self._counts != other._counts) | (self._sums != other._sums)).sum())


def place_hashes(offsets: I64, hashes: U64) -> U64:
    """Hashes of rows where they are: the same row at another offset is another one."""
    return mix(hashes + offsets.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))
