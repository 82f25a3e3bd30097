"""Every row reaches the partition and bucket that its values say, in order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from fake_cluster import table_info
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.write.batching import Destination
from lakeward.client.write.routing import Router, split
from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.arrow.bucket_kernels import assign_buckets


def batch(ids: list[int], names: list[str]) -> pa.RecordBatch:
    """Rows of the test table."""
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "name": pa.array(names)})


def test_without_keys_a_batch_stays_whole() -> None:
    """The bucket is chosen when the batch is closed."""
    rows = batch([1, 2], ["a", "b"])
    assert list(Router(table_info(buckets=3)).route(rows)) == [(Destination(None, None), rows)]


def test_buckets_take_turns_from_a_start_of_their_own() -> None:
    """Different writers begin at different buckets, so that short-lived ones do not all fill the first."""
    router = Router(table_info(buckets=3))
    router.start_at(5)
    assert [router.next_bucket(None) for _ in range(4)] == [2, 0, 1, 2]
    assert router.next_bucket("p") == 2


def test_each_table_that_is_opened_begins_at_another_bucket() -> None:
    """Writers of a connection share an id: who opens a table for each append would fill one bucket alone."""
    routers = [Router(table_info(buckets=3), turn=turn) for turn in range(4)]
    assert [router.next_bucket(None) for router in routers] == [0, 1, 2, 0]
    for router in routers:
        router.start_at(5)
    assert [router.next_bucket("p") for router in routers] == [2, 0, 1, 2]


def test_round_robin_spreads_each_write() -> None:
    """Every bucket gets its share of a write."""
    router = Router(table_info(buckets=3), round_robin=True)
    routed = list(router.route(batch(list(range(7)), ["x"] * 7)))
    assert [(to.bucket, piece.num_rows) for to, piece in routed] == [(0, 3), (1, 3), (2, 1)]


def test_a_bucket_key_decides() -> None:
    """Rows go where the bucketing function says, whichever write they are in."""
    info = table_info(bucket_by=("id",), buckets=4)
    rows = batch(list(range(100)), [str(i) for i in range(100)])
    expected = assign_buckets([rows.column("id")], [info.schema.column("id").type], 4, None)
    seen = {}
    for to, piece in Router(info).route(rows):
        assert to.partition is None
        ids = piece.column("id").to_pylist()
        assert ids == sorted(ids)
        assert piece.column("name").to_pylist() == [str(i) for i in ids]
        seen |= dict.fromkeys(ids, to.bucket)
    assert seen == dict(enumerate(expected.tolist()))


def test_partitions_are_named_by_their_values() -> None:
    """Rows are split by partition first, then by bucket."""
    router = Router(table_info("id BIGINT, day DATE, name STRING", partition_by=("day", "name")))
    rows = pa.record_batch(
        {
            "id": pa.array([1, 2, 3, 4], pa.int64()),
            "day": pa.array([0, 1, 0, 0], pa.int32()).cast(pa.date32()),
            "name": pa.array(["eu", "eu", "us", "eu"]),
        }
    )
    routed = {to.partition: piece.column("id").to_pylist() for to, piece in router.route(rows)}
    assert routed == {"1970-01-01$eu": [1, 4], "1970-01-02$eu": [2], "1970-01-01$us": [3]}


def test_a_row_without_partition_is_refused() -> None:
    """NULL names no partition."""
    router = Router(table_info(partition_by=("name",)))
    with pytest.raises(LakewardError, match="name") as caught:
        list(router.route(batch([1], [None])))  # type: ignore[list-item]
    assert caught.value.code is ErrorCode.PARTITION_SPEC_INVALID


@given(st.lists(st.integers(0, 6), min_size=1, max_size=200))
def test_split_keeps_order_and_loses_nothing(codes: list[int]) -> None:
    """Each group holds its rows in their order; all groups together hold all rows."""
    rows = pa.record_batch({"n": pa.array(range(len(codes)), pa.int64())})
    found = {g: piece.column("n").to_pylist() for g, piece in split(rows, np.array(codes, np.int32), 7)}
    assert found == {g: [i for i, c in enumerate(codes) if c == g] for g in set(codes)}


def test_a_table_that_follows_pyfluss_is_spread_as_pyfluss_does() -> None:
    """INT 300 on 16 buckets: 5 for Java, 11 for pyfluss."""
    info = table_info("id INT", bucket_by=("id",), buckets=16)
    rows = pa.record_batch({"id": pa.array([300], pa.int32())})
    for follow, bucket in ((False, 5), (True, 11)):
        ((to, _),) = Router(info, follow_pyfluss=follow).route(rows)
        assert to.bucket == bucket
