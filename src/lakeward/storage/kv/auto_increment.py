"""Numbers for the auto-increment column of a table: unique in the table, growing in each bucket, with gaps.

A bucket takes segments of `table.auto-increment.cache-size` numbers from a counter of the whole table, so that buckets
need not agree on each one. Counter at s, cache of c: the numbers s + 1 … s + c.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakeward.errors import ErrorCode
from lakeward.model.data_types import TypeRoot
from lakeward.model.table import TableInfo
from lakeward.options import table as table_options

_LARGEST = {TypeRoot.INTEGER: 2**31 - 1, TypeRoot.BIGINT: 2**63 - 1}

Reserve = Callable[[int], int]
"""Advance the table's counter by so much, durably; returns what it was before. The counter begins at 0."""


class IdRange(NamedTuple):
    """Numbers that a bucket holds and has not used yet: from `next` to `last`."""

    next: int
    last: int


class AutoIncrement:
    """The numbers of one bucket."""

    def __init__(self, table: TableInfo, reserve: Reserve) -> None:
        (name,) = table.schema.auto_increment
        self._table = table.path
        self._column = table.schema.column(name)
        self._largest = _LARGEST[self._column.type.root]
        self._cache_size = table_options.AUTO_INCREMENT_CACHE.read(table.descriptor.properties)
        self._reserve = reserve
        self._held: deque[IdRange] = deque()

    def hold(self, count: int) -> None:
        """Have so many numbers at hand: the next `take`s reserve nothing, so that they may be done on any thread."""
        lacking = count - sum(one.last - one.next + 1 for one in self._held)
        if lacking > 0:
            self._held.append(self._new_range(-(-lacking // self._cache_size)))

    def take(self) -> int:
        """The next number; a new segment is reserved when there is none."""
        if not self._held:
            self._held.append(self._new_range())
        held = self._held[0]
        if held.next > self._largest:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Column '{self._column.name}' of table {self._table} is {self._column.type} and has reached its"
                f" largest number, {self._largest}; rows with new keys cannot be written any more."
            )
        if held.next == held.last:
            self._held.popleft()
        else:
            self._held[0] = IdRange(held.next + 1, held.last)
        return held.next

    def ahead(self, count: int) -> NDArray[np.int64]:
        """The next numbers that are at hand, at most so many, to be told with `use` how many of them were taken."""
        pieces = [np.arange(one.next, min(one.last, self._largest) + 1) for one in self._held]
        return np.concatenate([np.zeros(0, np.int64), *pieces])[:count]

    def use(self, count: int) -> None:
        """So many of the numbers ahead are taken."""
        while count:
            held = self._held.popleft()
            taken = min(count, held.last - held.next + 1)
            if held.next + taken <= held.last:
                self._held.appendleft(IdRange(held.next + taken, held.last))
            count -= taken

    def _new_range(self, segments: int = 1) -> IdRange:
        count = segments * self._cache_size
        before = self._reserve(count)
        return IdRange(before + 1, before + count)
