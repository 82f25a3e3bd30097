"""Rows by offset, in any order."""

from __future__ import annotations

import numpy as np

from lakeward.agreement.offset_sums import OffsetSums


def sums(offsets: list[int], hashes: list[int], stop: int = 100, buckets: int = 1) -> OffsetSums:
    """Of the offsets from 10 on."""
    made = OffsetSums(10, stop, buckets)
    made.add(np.array(offsets, np.int64), np.array(hashes, np.uint64))
    return made


def test_the_order_of_rows_does_not_count() -> None:
    """Nor in how many pieces they come."""
    one, other = sums([10, 11, 12], [1, 2, 3]), sums([12], [3])
    other.add(np.array([11, 10], np.int64), np.array([2, 1], np.uint64))
    assert one.first_difference(other) is None
    assert other.rows == 3


def test_what_is_lost_doubled_changed_or_swapped_is_found() -> None:
    """With the stretch of offsets in which it is."""
    right = sums([10, 11, 12], [1, 2, 3])
    for offsets, hashes, first in (
        ([10, 12], [1, 3], 11),
        ([10, 11, 12, 12], [1, 2, 3, 3], 12),
        ([10, 11, 12], [1, 9, 3], 11),
        ([10, 11, 12], [2, 1, 3], 10),
    ):
        found = right.first_difference(sums(offsets, hashes))
        assert found is not None
        assert found[0] == first


def test_rows_outside_of_the_range_are_counted_apart() -> None:
    """Those that the log no longer has, and those that the lake must not have yet."""
    found = sums([3, 10, 100, 101], [1, 1, 1, 1])
    assert (found.rows, found.older, found.newer) == (1, 1, 2)
    assert OffsetSums(5, 3).first_difference(OffsetSums(5, 3)) is None


def test_many_buckets_share_a_bound_of_memory() -> None:
    """Their stretches are wider; a difference is found all the same."""
    one, other = (sums([10, 500_000], [1, last], 1_000_000, 1 << 18) for last in (2, 3))
    found = one.first_difference(other)
    assert found is not None
    assert found[0] <= 500_000 < found[1]
    assert one.difference_count(other) == 1
