"""The cache of lookup joins: what it remembers, for how long, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakeward.runtime.clock import ManualClock
from lakeward.spark.lookup.lookup_cache import MISSING_TTL_MS, Answers, LookupCache, Numbers

SCHEMA = pa.schema([("key", pa.int64()), ("nth", pa.int64())])


class _Table:
    """Answers with as many rows for a key as it is told, and notes what it was asked for."""

    def __init__(self, counts: dict[int, int]) -> None:
        self.counts = counts
        self.asked: list[int] = []

    def ask(self, keys: pa.Array, which: Numbers) -> Answers:
        wanted = keys.take(pa.array(which)).to_pylist()
        self.asked += wanted
        counts = [self.counts.get(k, 0) for k in wanted]
        rows = [{"key": k, "nth": n} for k, count in zip(wanted, counts, strict=True) for n in range(count)]
        return Answers(np.array(counts, np.int64), pa.RecordBatch.from_pylist(rows, schema=SCHEMA))


def _cache(clock: ManualClock, rows_max: int = 100, ttl_ms: int = 60_000) -> LookupCache:
    return LookupCache(pa.int64(), SCHEMA, rows_max=rows_max, ttl_ms=ttl_ms, clock=clock)


def _look_up(cache: LookupCache, table: _Table, keys: Iterable[int]) -> list[list[tuple[int, int]]]:
    array = pa.array(list(keys), pa.int64())
    found = cache.matches(array, lambda which: table.ask(array, which))
    rows = [tuple(row.values()) for row in found.rows.to_pylist()]
    cache.trim()
    return [rows[s : s + n] for s, n in zip(found.starts.tolist(), found.counts.tolist(), strict=True)]


def test_a_key_is_asked_for_once() -> None:
    """Until it is too old; then it is asked for again and the new answer counts."""
    clock, table = ManualClock(), _Table({1: 1, 2: 3})
    cache = _cache(clock)
    assert _look_up(cache, table, [2, 1]) == [[(2, 0), (2, 1), (2, 2)], [(1, 0)]]
    clock.advance(59_999)
    table.counts = {1: 2, 2: 1}
    assert _look_up(cache, table, [1, 2]) == [[(1, 0)], [(2, 0), (2, 1), (2, 2)]]
    clock.advance(1)
    assert _look_up(cache, table, [1, 2]) == [[(1, 0), (1, 1)], [(2, 0)]]
    assert table.asked == [2, 1, 1, 2]


def test_a_missing_key_is_believed_for_a_moment_only() -> None:
    """Its row may be on its way."""
    clock, table = ManualClock(), _Table({})
    cache = _cache(clock)
    assert _look_up(cache, table, [7]) == [[]]
    table.counts = {7: 1}
    assert _look_up(cache, table, [7]) == [[]]
    clock.advance(MISSING_TTL_MS)
    assert _look_up(cache, table, [7]) == [[(7, 0)]]
    assert table.asked == [7, 7]


def test_the_oldest_make_room() -> None:
    """A batch larger than the cache is answered all the same."""
    table = _Table(dict.fromkeys(range(10), 1))
    cache = _cache(ManualClock(), rows_max=4)
    assert _look_up(cache, table, range(10)) == [[(k, 0)] for k in range(10)]
    assert len(cache) == 4
    table.asked.clear()
    _look_up(cache, table, range(10))
    assert table.asked == list(range(6))


def test_without_room_nothing_is_kept() -> None:
    """`cache_rows=0` turns the cache off."""
    table = _Table({1: 1})
    cache = _cache(ManualClock(), rows_max=0)
    assert _look_up(cache, table, [1, 5]) == _look_up(cache, table, [1, 5]) == [[(1, 0)], []]
    assert (table.asked, len(cache)) == ([1, 5, 1, 5], 0)


@given(
    batches=st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=12),
    counts=st.dictionaries(st.integers(0, 12), st.integers(0, 3)),
    rows_max=st.integers(0, 10),
    wait_ms=st.integers(0, 1500),
)
def test_whatever_is_cached_the_answers_are_the_tables(
    batches: list[list[int]], counts: dict[int, int], rows_max: int, wait_ms: int
) -> None:
    """For a table that does not change, a cache of any size changes nothing."""
    clock, table = ManualClock(), _Table(counts)
    cache = _cache(clock, rows_max, ttl_ms=3_000)
    for keys in batches:
        assert _look_up(cache, table, keys) == [[(k, n) for n in range(counts.get(k, 0))] for k in keys]
        assert len(cache) <= 2 * rows_max
        clock.advance(wait_ms)
