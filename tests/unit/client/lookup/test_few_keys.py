"""Single lookups take a shorter way to the same place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fake_cluster import FakeCluster, table_info
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.few_keys import FewKeys
from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import LookupResponse, PbLookupRespForBucket, PbValue

INFO = table_info("a STRING, b INT, PRIMARY KEY (a, b) NOT ENFORCED", buckets=3)


class Cluster(FakeCluster):
    """Requests wait for the test's answer."""

    def __init__(self) -> None:
        super().__init__()
        self.workers.shutdown()

        async def request(api: Api, message: Any, *, timeout_ms: float) -> Any:
            return await self.channel.post(api, message)

        self.channel.request = request  # type: ignore[attr-defined]
        self.channel.version = lambda api: api.version_max  # type: ignore[attr-defined]


@pytest.fixture
def cluster() -> Cluster:
    """Repetitions come at once."""
    return Cluster()


def few(cluster: Any, columns: str = "a STRING, b INT, PRIMARY KEY (a, b) NOT ENFORCED", **options: Any) -> FewKeys:
    """Of a table."""
    info = table_info(columns, **options)
    return FewKeys(cluster, info, TableKeys(info))


@given(
    st.text(),
    st.integers(-(2**31), 2**31 - 1),
    st.sampled_from(["", "paimon", "lance"]),
    st.booleans(),
    st.sampled_from(Bucketing),
)
def test_one_key_is_encoded_as_many_are(a: str, b: int, lake: str, own_bucket: bool, bucketing: Bucketing) -> None:
    """The same bytes and the same bucket as by whole columns."""
    properties = {"table_datalake_format": lake} if lake else {}
    columns = "a STRING, b INT, PRIMARY KEY (a, b) NOT ENFORCED"
    keys = TableKeys(table_info(columns, buckets=7, bucket_by=("a",) if own_bucket else (), **properties))
    rows = keys.forms.batch([(a, b)])
    packed = keys.encode(rows)
    bucket = int(keys.buckets(rows, packed, bucketing)[0])
    assert keys.encode_one((a, b), bucketing) == (packed[0], bucket)


def test_what_is_few_and_plain() -> None:
    """Tuples and lists of them; everything else takes the long way."""
    made = few(None, buckets=2)
    assert made.rows_of(("x", 1)) == [("x", 1)]
    assert made.rows_of([("x", 1), ("y", 2)]) == [("x", 1), ("y", 2)]
    for other in ([("x", 1)] * 5, [("x", None)], [("x", True)], ("x",), {"a": "x", "b": 1}, [["x", 1]], "x", None):
        assert made.rows_of(other) is None
    one = few(None, "id BIGINT, PRIMARY KEY (id) NOT ENFORCED")
    assert one.rows_of(5) == one.rows_of((5,)) == one.rows_of([5]) == [(5,)]
    for other in (5.0, "5", True, None, [5, None]):
        assert one.rows_of(other) is None
    parted = few(None, "p STRING, id INT, PRIMARY KEY (p, id) NOT ENFORCED", partition_by=("p",))
    assert parted.rows_of(("x", 1)) is None


async def test_values_come_in_the_order_of_the_keys(cluster: Cluster) -> None:
    """Bucket by bucket, put back into their places."""
    made = few(cluster, buckets=2)
    rows = [("x", 1), ("y", 2), ("z", 3), ("w", 4)]
    finding = asyncio.ensure_future(made.find(rows, Bucketing.JAVA))
    asked = 0
    while asked < 4:
        request = await cluster.channel.next()
        (bucket,) = request.message.buckets_req
        asked += len(bucket.keys)
        values = tuple(PbValue(values=None if b"y" in key else b"of " + key) for key in bucket.keys)
        reply = PbLookupRespForBucket(bucket_id=bucket.bucket_id, values=values)
        request.answer.set_result(LookupResponse(buckets_resp=(reply,)))
    assert await finding == [b"of \1x\1", None, b"of \1z\3", b"of \1w\4"]


async def test_a_leader_that_moved_is_asked_again(cluster: Cluster) -> None:
    """And an error that stays is told with its place."""
    made = few(cluster)
    finding = asyncio.ensure_future(made.find([("x", 1)], Bucketing.JAVA))
    moved = PbLookupRespForBucket(bucket_id=0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER.value)
    (await cluster.channel.next()).answer.set_result(LookupResponse(buckets_resp=(moved,)))
    refused = PbLookupRespForBucket(bucket_id=0, error_code=ErrorCode.AUTHORIZATION.value, error_message="no")
    (await cluster.channel.next()).answer.set_result(LookupResponse(buckets_resp=(refused,)))
    with pytest.raises(LakewardError, match=r"db\.t, bucket 0: no"):
        await finding


@pytest.mark.parametrize("buckets", [(), (PbLookupRespForBucket(bucket_id=0),)])
async def test_silence_and_miscounts_are_errors(cluster: Cluster, buckets: tuple) -> None:
    """A key is missing only where the server says so."""
    finding = asyncio.ensure_future(few(cluster).find([("x", 1)], Bucketing.JAVA))
    (await cluster.channel.next()).answer.set_result(LookupResponse(buckets_resp=buckets))
    with pytest.raises(LakewardError, match=r"db\.t, bucket 0"):
        await finding


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**70])
async def test_a_number_that_does_not_fit_is_refused(cluster: Cluster, value: int) -> None:
    """Never cut down to another key."""
    with pytest.raises(InvalidError):
        await few(cluster).find([("x", value)], Bucketing.JAVA)
    assert not cluster.channel.asked
