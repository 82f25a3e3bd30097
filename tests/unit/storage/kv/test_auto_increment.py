"""Numbers of auto-increment columns: segments, recovery, the end of the numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_tables import INT, PkTable

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.storage.kv.auto_increment import AutoIncrement


class Counter:
    """The counter of a table."""

    def __init__(self, value: int = 0) -> None:
        self.value = value
        self.calls = 0

    def reserve(self, count: int) -> int:
        """Advance, and tell where it was."""
        self.calls += 1
        self.value += count
        return self.value - count


def table(type_: DataType = INT, cache_size: int | None = None) -> PkTable:
    """A table that numbers its rows."""
    properties = {} if cache_size is None else {"table.auto-increment.cache-size": str(cache_size)}
    return PkTable([("k", INT), ("id", type_)], properties=properties, auto_increment=["id"])


def test_numbers_begin_at_one() -> None:
    """The first segment of a table is 1 … cache size, reserved when the first number is asked for."""
    counter = Counter()
    numbers = AutoIncrement(table().info, counter.reserve)
    assert counter.calls == 0
    assert [numbers.take() for _ in range(3)] == [1, 2, 3]
    assert counter.value == 100_000
    assert counter.calls == 1


def test_buckets_take_turns_by_segment() -> None:
    """Two buckets never give the same number; each one's numbers grow."""
    counter = Counter()
    info = table(cache_size=2).info
    a, b = AutoIncrement(info, counter.reserve), AutoIncrement(info, counter.reserve)
    assert [a.take(), b.take(), a.take(), a.take(), b.take(), b.take()] == [1, 3, 2, 5, 4, 7]
    assert counter.calls == 4


@pytest.mark.parametrize(("type_", "largest"), [(INT, 2**31 - 1), (t.BIGINT(), 2**63 - 1)], ids=["INT", "BIGINT"])
def test_numbers_end_with_their_type(type_: DataType, largest: int) -> None:
    """A number that does not fit the column is never given; the error says what is full."""
    numbers = AutoIncrement(table(type_).info, Counter(largest - 1).reserve)
    assert numbers.take() == largest
    for _ in range(2):
        with pytest.raises(LakewardError, match=rf"'id' of table shop\.orders .* {largest}"):
            numbers.take()


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=60), st.integers(1, 5))
def test_numbers_stay_unique_through_restarts(steps: list[tuple[int, bool]], cache_size: int) -> None:
    """Whichever buckets are restarted when, no number is given twice: a restarted bucket takes a new segment."""
    counter, info = Counter(), table(cache_size=cache_size).info
    buckets = {b: AutoIncrement(info, counter.reserve) for b in range(3)}
    given_out: list[int] = []
    for bucket, restart in steps:
        given_out.append(buckets[bucket].take())
        if restart:
            buckets[bucket] = AutoIncrement(info, counter.reserve)
    assert len(set(given_out)) == len(given_out)


def test_held_numbers_need_nobody() -> None:
    """After `hold` so many numbers are given without asking the table's counter; what is held is used first."""
    counter = Counter()
    numbers = AutoIncrement(table(cache_size=2).info, counter.reserve)
    assert numbers.take() == 1
    numbers.hold(4)
    assert (counter.value, counter.calls) == (6, 2)
    numbers.hold(5)
    assert counter.calls == 2
    assert [numbers.take() for _ in range(6)] == [2, 3, 4, 5, 6, 7]
    assert counter.calls == 3


def test_numbers_ahead_are_those_that_would_be_taken() -> None:
    """Over the end of a segment, too; what was not used is given next."""
    numbers = AutoIncrement(table(cache_size=3).info, Counter().reserve)
    numbers.hold(2)
    numbers.hold(5)
    assert numbers.ahead(5).tolist() == [1, 2, 3, 4, 5]
    numbers.use(4)
    assert numbers.take() == 5
    numbers.use(0)
    assert numbers.ahead(1).tolist() == [6]


def test_no_number_ahead_is_larger_than_its_type() -> None:
    """Fewer are ahead than were asked for where the numbers end."""
    numbers = AutoIncrement(table().info, Counter(2**31 - 3).reserve)
    numbers.hold(9)
    assert numbers.ahead(9).tolist() == [2**31 - 2, 2**31 - 1]
