"""What the log has and the lake lacks, cut into splits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lake_tables import TABLE_ID, table_info

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.tiering.round.split_generator import BucketLog, end_offsets, generate
from lakeward.tiering.task.splits import LogRange, StateAtOffset

LOG = table_info({"id": "BIGINT"})
KEYED = table_info({"id": "BIGINT NOT NULL"}, key="id")


def bucket(number: int, partition: int | None = None) -> TableBucket:
    """A bucket of the table."""
    return TableBucket(TABLE_ID, partition, number)


def log(number: int, start: int, end: int) -> BucketLog:
    """A bucket's log, of a table without partitions."""
    return BucketLog(bucket(number), None, start, end)


def test_a_bucket_goes_on_where_the_lake_ends() -> None:
    """One the lake does not know begins where its log begins; one without news has no split."""
    found = generate(
        LOG, {bucket(0): 10, bucket(1): 7}, [log(0, 5, 20), log(1, 0, 7), log(2, 3, 4)],
        rows_per_split=100, state_at_first=True,
    )  # fmt: skip
    assert found == [LogRange(bucket(0), None, 10, 20), LogRange(bucket(2), None, 3, 4)]


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**7)), min_size=1, max_size=5), st.integers(10**5, 10**7)
)
def test_ranges_are_covered_once_and_evenly(logs: list[tuple[int, int]], rows_per_split: int) -> None:
    """Whatever the lengths: each offset is in exactly one split, none is larger than asked, largest first."""
    given_ = [log(number, start, start + rows) for number, (start, rows) in enumerate(logs)]
    splits = generate(LOG, {}, given_, rows_per_split=rows_per_split, state_at_first=True)
    assert all(isinstance(s, LogRange) and 0 < s.rows <= rows_per_split for s in splits)
    assert [s.rows for s in splits] == sorted((s.rows for s in splits), reverse=True)
    for one in given_:
        parts = sorted((s.start, s.stop) for s in splits if s.bucket == one.bucket)
        joined = [one.start, *(stop for _, stop in parts)]
        assert [start for start, _ in parts] == joined[:-1]
        assert joined[-1] == one.end
        assert not parts or max(b - a for a, b in parts) - min(b - a for a, b in parts) <= 1


def test_a_primary_key_table_begins_with_its_state() -> None:
    """After that its changes are read, all of a bucket in one task; an empty bucket needs none."""
    first = generate(KEYED, {}, [log(0, 0, 50), log(1, 0, 0)], rows_per_split=10, state_at_first=True)
    assert first == [StateAtOffset(bucket(0), None, 50)]
    later = generate(KEYED, {bucket(0): 50}, [log(0, 0, 90)], rows_per_split=10, state_at_first=True)
    assert later == [LogRange(bucket(0), None, 50, 90)]


def test_a_primary_key_table_without_readable_state_is_read_from_its_changelog() -> None:
    """On a cluster that cannot be asked for state."""
    found = generate(KEYED, {}, [log(0, 0, 50)], rows_per_split=10, state_at_first=False)
    assert found == [LogRange(bucket(0), None, 0, 50)]


def test_rows_that_are_gone_before_they_were_tiered_fail_the_table() -> None:
    """Never skipped in silence: table, bucket and the gap are named."""
    with pytest.raises(LakewardError, match=r"shop\.orders, bucket 0: .* offset 3, but it now begins at 5") as wrong:
        generate(LOG, {bucket(0): 3}, [log(0, 5, 9)], rows_per_split=10, state_at_first=True)
    assert wrong.value.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE


def test_buckets_of_dropped_partitions_leave_the_offsets() -> None:
    """The others are as far as they were, or as was read."""
    in_lake = {bucket(0, 1): 5, bucket(0, 2): 6}
    logs = [BucketLog(bucket(0, 2), "b", 0, 9), BucketLog(bucket(0, 3), "c", 0, 1)]
    assert end_offsets(in_lake, logs, {bucket(0, 3): 1}) == {bucket(0, 2): 6, bucket(0, 3): 1}
