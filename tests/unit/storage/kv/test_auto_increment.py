"""Numbers of auto-increment columns: segments, recovery, the end of the numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_tables import INT, PkTable

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.storage.kv.auto_increment import NO_IDS, AutoIncrement, IdRange, held_after_replay


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
    assert numbers.held == IdRange(4, 100_000)


def test_buckets_take_turns_by_segment() -> None:
    """Two buckets never give the same number; each one's numbers grow."""
    counter = Counter()
    info = table(cache_size=2).info
    a, b = AutoIncrement(info, counter.reserve), AutoIncrement(info, counter.reserve)
    assert [a.take(), b.take(), a.take(), a.take(), b.take(), b.take()] == [1, 3, 2, 5, 4, 7]
    assert counter.calls == 4


def test_a_bucket_goes_on_with_what_it_holds() -> None:
    """After a restart from a snapshot no new segment is needed."""
    counter = Counter(200)
    numbers = AutoIncrement(table(cache_size=100).info, counter.reserve, held=IdRange(42, 43))
    assert [numbers.take(), numbers.take(), numbers.take()] == [42, 43, 201]


@pytest.mark.parametrize(("type_", "largest"), [(INT, 2**31 - 1), (t.BIGINT(), 2**63 - 1)], ids=["INT", "BIGINT"])
def test_numbers_end_with_their_type(type_: DataType, largest: int) -> None:
    """A number that does not fit the column is never given; the error says what is full."""
    numbers = AutoIncrement(table(type_).info, Counter(largest - 1).reserve)
    assert numbers.take() == largest
    for _ in range(2):
        with pytest.raises(LakewardError, match=rf"'id' of table shop\.orders .* {largest}"):
            numbers.take()


@pytest.mark.parametrize(
    ("snapshot", "last_used", "held"),
    [
        (None, None, NO_IDS),
        (None, 17, NO_IDS),
        (IdRange(5, 10), None, IdRange(5, 10)),
        (IdRange(5, 10), 3, IdRange(5, 10)),
        (IdRange(5, 10), 7, IdRange(8, 10)),
        (IdRange(5, 10), 10, IdRange(11, 10)),
        (IdRange(5, 10), 24, IdRange(25, 30)),
        (IdRange(5, 10), 30, IdRange(31, 30)),
        (NO_IDS, 13, IdRange(14, 20)),
    ],
)
def test_a_replayed_bucket_holds(snapshot: IdRange | None, last_used: int | None, held: IdRange) -> None:
    """Numbers go on after the last one used, to the end of its segment; a segment that is used up leaves none."""
    assert held_after_replay(snapshot, last_used, cache_size=10) == held


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), max_size=60), st.integers(1, 5))
def test_numbers_stay_unique_through_restarts(steps: list[tuple[int, bool, bool]], cache_size: int) -> None:
    """Whichever buckets are snapshotted and restarted when, no number is given twice."""
    counter, info = Counter(), table(cache_size=cache_size).info
    buckets = {b: AutoIncrement(info, counter.reserve) for b in range(3)}
    snapshots: dict[int, IdRange | None] = dict.fromkeys(range(3))
    since: dict[int, int | None] = dict.fromkeys(range(3))
    given_out: list[int] = []
    for bucket, snapshot, restart in steps:
        number = buckets[bucket].take()
        given_out.append(number)
        since[bucket] = number
        if snapshot:
            snapshots[bucket], since[bucket] = buckets[bucket].held, None
        if restart:
            held = held_after_replay(snapshots[bucket], since[bucket], cache_size)
            buckets[bucket] = AutoIncrement(info, counter.reserve, held)
    assert len(set(given_out)) == len(given_out)
