"""Cutting and spreading work."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.forms.results import BucketId
from lakeward.query.plan.plan import Plan, Summary, log_splits, spread
from lakeward.query.plan.splits import LogSplit, StateSplit
from lakeward.query.request.filters import Compare, Or
from lakeward.query.request.offset_bounds import OffsetBounds, offset_bounds
from lakeward.query.request.request import ReadRequest

_RANGES = st.dictionaries(
    st.integers(0, 5).map(lambda n: BucketId(None, n)),
    st.tuples(st.integers(0, 1000), st.integers(0, 5_000_000)),
    max_size=6,
)


@given(ranges=_RANGES, parallelism=st.integers(1, 16), split_rows=st.one_of(st.none(), st.integers(20_000, 10**6)))
def test_pieces_cover_every_offset_once(
    ranges: dict[BucketId, tuple[int, int]], parallelism: int, split_rows: int | None
) -> None:
    """No gap, no overlap, nothing empty, and no piece larger than was asked for."""
    options = {} if split_rows is None else {"scan.split.rows": str(split_rows)}
    splits = log_splits(ranges, ReadRequest.of_name("t", options=options, parallelism=parallelism))
    for id_, (start, stop) in ranges.items():
        own = [s for s in splits if s.id == id_]
        edges = [s.start for s in own] + [stop] if own else []
        assert edges[:1] == ([start] if stop > start else [])
        assert [s.stop for s in own] == edges[1:]
        assert all(s.weight > 0 for s in own)
        assert split_rows is None or all(s.weight <= split_rows for s in own)
    total = sum(s.weight for s in splits)
    assert all(s.weight <= max(-(-total // parallelism), 100_000) for s in splits) or split_rows


@given(weights=st.lists(st.integers(1, 100), max_size=30), most=st.integers(1, 8))
def test_groups_are_even(weights: list[int], most: int) -> None:
    """Every split is in one group; none is empty, and the heaviest is not much above the mean."""
    splits = [LogSplit(None, n, 0, weight) for n, weight in enumerate(weights)]
    groups = spread([[split] for split in splits], most)
    assert sorted(s.bucket for g in groups for s in g) == list(range(len(splits)))
    assert len(groups) == min(most, len(splits))
    if groups:
        heaviest = max(sum(s.weight for s in g) for g in groups)
        assert heaviest <= sum(weights) / most + max(weights)


def test_bounds_of_offsets() -> None:
    """The narrowest of all that must hold; alternatives bound nothing."""
    some = [Compare(">", "_log_offset", 3), Compare("<=", "_log_offset", 9), Compare(">=", "_log_offset", 2)]
    assert offset_bounds(some) == OffsetBounds(4, 10)
    assert offset_bounds([Or(tuple(some))]) == OffsetBounds()
    assert OffsetBounds(4, 10).clip(0, 100) == (4, 10)
    assert OffsetBounds(4).clip(7, 100) == (7, 100)


def test_changes_of_one_bucket_stay_in_one_task() -> None:
    """Where order counts, a bucket's state comes before its changes, in the same task, however many there are."""
    splits = [StateSplit(None, 0, 5, 5), StateSplit(None, 1, 9, 9), LogSplit(None, 0, 5, 500), LogSplit(None, 1, 9, 10)]
    numbers = Summary("t", None, 2, 510, 496, (1, 1), (), None, is_state=True)
    tasks = Plan(tuple(splits), numbers, keeps_order=True).tasks(8)
    assert tasks == [[splits[0], splits[2]], [splits[1], splits[3]]]
    assert len(Plan(tuple(splits), numbers).tasks(8)) == 4
    assert str(numbers) == "2 buckets, current state, 496 offsets, 1 of 1 column"
