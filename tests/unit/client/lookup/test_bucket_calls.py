"""Many buckets asked at once: together where they share a leader, again where one has moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fake_cluster import FakeCluster, table_info

from lakeward.client.lookup.bucket_calls import BucketCalls, KeyGroup
from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.bucket import TableBucket

INFO = table_info("id INT, PRIMARY KEY (id) NOT ENFORCED", buckets=4)


class TwoServers(FakeCluster):
    """Even buckets are led by one server, odd ones by the other."""

    def __init__(self) -> None:
        super().__init__()
        self.workers.shutdown()

    async def leader(self, path: Any, bucket: TableBucket, partition: Any) -> Any:
        """Its name will do."""
        if bucket.bucket == 9:
            raise ErrorCode.PARTITION_NOT_EXISTS.error("gone")
        return f"server {bucket.bucket % 2}"


def group(bucket: int, keys: int, first: int = 0) -> KeyGroup:
    """Keys of a bucket."""
    return KeyGroup(TableBucket(7, None, bucket), None, np.arange(first, first + keys))


class Recorder:
    """Keeps what was sent, and refuses what it is told to refuse once."""

    def __init__(self, *refused: tuple[int, ErrorCode]) -> None:
        self.sent: list[tuple[str, list[tuple[int, int]]]] = []
        self._refused = dict(refused)

    async def __call__(self, channel: Any, groups: Sequence[KeyGroup]) -> dict[KeyGroup, LakewardError]:
        """One request."""
        self.sent.append((channel, [(g.bucket.bucket, len(g.which)) for g in groups]))
        return {g: self._refused.pop(g.bucket.bucket).error("no") for g in groups if g.bucket.bucket in self._refused}


def calls(keys_max: int = 100) -> BucketCalls:
    """Of the table."""
    return BucketCalls(TwoServers(), INFO, keys_max=keys_max, in_flight_max=2)  # type: ignore[arg-type]


async def test_buckets_of_one_leader_share_a_request() -> None:
    """One request per server when there are few keys."""
    recorder = Recorder()
    await calls().settle([group(b, 3) for b in range(4)], recorder)
    assert sorted(recorder.sent) == [("server 0", [(0, 3), (2, 3)]), ("server 1", [(1, 3), (3, 3)])]


async def test_many_keys_are_cut_into_requests() -> None:
    """No request has more keys than allowed, and none names a bucket twice."""
    recorder = Recorder()
    await calls(keys_max=10).settle([group(0, 25), group(2, 4)], recorder)
    assert [sent for _, sent in recorder.sent] == [[(0, 10)], [(0, 10)], [(0, 5), (2, 4)]]


async def test_only_what_was_refused_goes_again() -> None:
    """The other bucket's answer stays."""
    recorder = Recorder((2, ErrorCode.NOT_LEADER_OR_FOLLOWER))
    await calls().settle([group(0, 1), group(2, 1)], recorder)
    assert [sent for _, sent in recorder.sent] == [[(0, 1), (2, 1)], [(2, 1)]]


async def test_an_error_that_stays_is_raised_with_its_place() -> None:
    """Table and bucket are named; so is a partition that is gone."""
    with pytest.raises(LakewardError, match=r"db\.t, bucket 1: no"):
        await calls().settle([group(1, 1)], Recorder((1, ErrorCode.NON_PRIMARY_KEY_TABLE)))
    with pytest.raises(NotFoundError, match="gone"):
        await calls().settle([group(9, 1)], Recorder())


async def test_a_request_that_fails_fails_all_its_groups() -> None:
    """And all of them go again."""
    attempts = 0

    async def send(channel: Any, groups: Sequence[KeyGroup]) -> dict[KeyGroup, LakewardError]:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise ErrorCode.NETWORK.error("closed")
        assert len(groups) == 2
        return {}

    await calls().settle([group(0, 1), group(2, 1)], send)
    assert attempts == 2
