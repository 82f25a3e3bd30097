"""Lookups over the wire's messages: what is asked, what answers mean, what goes again."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fake_cluster import Asked, FakeCluster, table_info
from span_bytes import bytes_of

from lakeward.client.admin.partitions import Partitions
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.lookups import FoundValues, Lookups
from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode, encode_parts
from lakeward.protocol.messages.kv import (
    LookupRequest,
    LookupResponse,
    PbLookupRespForBucket,
    PbPrefixLookupRespForBucket,
    PbValue,
    PbValueList,
    PrefixLookupResponse,
)
from lakeward.protocol.messages.packed_kv import PackedLookupResponse
from lakeward.records.batch.value_batch import encode_value_batch, parse_value_batch

INFO = table_info("a STRING, b INT, PRIMARY KEY (a, b) NOT ENFORCED", bucket_by=("a",), buckets=2)
ROWS = pa.record_batch({"a": ["x", "y", "z", "x"], "b": pa.array([1, 2, 3, 4], pa.int32())})


class Cluster(FakeCluster):
    """Requests wait for the test's answer."""

    def __init__(self) -> None:
        super().__init__()
        self.workers.shutdown()

        async def request(api: Api, message: Any, *, timeout_ms: float, answer: Any = None) -> Any:
            return await self.channel.post(api, message)

        self.channel.request = request  # type: ignore[attr-defined]
        self.channel.version = lambda api: api.version_max  # type: ignore[attr-defined]


@pytest.fixture
def cluster() -> Cluster:
    """Repetitions come at once."""
    return Cluster()


def lookups(cluster: Cluster) -> Lookups:
    """Of the table."""
    return Lookups(cluster, INFO, Partitions(cluster, INFO), TableKeys(INFO))  # type: ignore[arg-type]


async def find(cluster: Cluster, **options: Any) -> FoundValues:
    """Look all rows up."""
    made = lookups(cluster)
    return await made.find(await made.encode(ROWS), Bucketing.JAVA, **options)


def asked_keys(asked: Asked) -> LookupRequest:
    """The request as any server reads it."""
    return decode(LookupRequest, b"".join(encode_parts(asked.message)))


def reply(asked: Asked, *refused: tuple[int, ErrorCode], known: bytes = b"\1\0row of ") -> None:
    """Every key but `y` has a value that names it; some buckets refuse."""
    buckets = []
    for bucket in asked_keys(asked).buckets_req:
        code = dict(refused).get(bucket.bucket_id, ErrorCode.NONE)
        values = tuple(PbValue(values=None if b"y" in key else known + key) for key in bucket.keys)
        buckets.append(
            PbLookupRespForBucket(
                bucket_id=bucket.bucket_id,
                error_code=code.value or None,
                error_message="not now" if code.value else None,
                values=() if code.value else values,
            )
        )
    raw = encode(LookupResponse(buckets_resp=tuple(reversed(buckets))))
    asked.answer.set_result(decode(PackedLookupResponse, memoryview(raw)))


def rows_in(found: FoundValues) -> list[bytes | None]:
    """The values in the order of the keys."""
    values = bytes_of(parse_value_batch(bytes(encode_value_batch(found.values))))
    return [None if place < 0 else values[place] for place in found.places.tolist()]


async def test_values_come_back_to_their_keys() -> None:
    """Whatever order the buckets answer in; a key without a value is missing."""
    cluster = Cluster()
    looking = asyncio.ensure_future(find(cluster))
    asked = await cluster.channel.next()
    request = asked_keys(asked)
    assert (asked.api, request.table_id, request.insert_if_not_exists) == (Api.LOOKUP, 7, None)
    assert sorted(k for b in request.buckets_req for k in b.keys) == [b"\1x\1", b"\1x\4", b"\1y\2", b"\1z\3"]
    reply(asked)
    found = await looking
    assert rows_in(found) == [b"\1\0row of \1x\1", None, b"\1\0row of \1z\3", b"\1\0row of \1x\4"]
    assert found.missing.tolist() == [1]


async def test_only_some_of_the_keys() -> None:
    """The others are neither asked for nor found."""
    cluster = Cluster()
    looking = asyncio.ensure_future(find(cluster, only=np.array([2])))
    asked = await cluster.channel.next()
    assert [b.keys for b in asked_keys(asked).buckets_req] == [(b"\1z\3",)]
    reply(asked)
    assert rows_in(await looking) == [None, None, b"\1\0row of \1z\3", None]


async def test_inserting_missing_keys_says_how_safely() -> None:
    """The request is a write then, with acks and a timeout."""
    cluster = Cluster()
    looking = asyncio.ensure_future(find(cluster, insert_missing=True))
    asked = await cluster.channel.next()
    request = asked_keys(asked)
    assert (request.insert_if_not_exists, request.acks, request.timeout_ms) == (True, -1, 30_000)
    reply(asked)
    await looking


async def test_a_bucket_that_moved_is_asked_again_alone(cluster: Cluster) -> None:
    """The other bucket's values are kept."""
    looking = asyncio.ensure_future(find(cluster))
    first = await cluster.channel.next()
    buckets = [b.bucket_id for b in asked_keys(first).buckets_req]
    assert buckets == [0, 1]
    reply(first, (1, ErrorCode.NOT_LEADER_OR_FOLLOWER))
    again = await cluster.channel.next()
    assert [b.bucket_id for b in asked_keys(again).buckets_req] == [1]
    assert [b.bucket for b in cluster.metadata.forgotten] == [1]
    reply(again)
    assert [v is None for v in rows_in(await looking)] == [False, True, False, False]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (LookupResponse(), "No answer"),
        (
            LookupResponse(buckets_resp=(PbLookupRespForBucket(bucket_id=0), PbLookupRespForBucket(bucket_id=1))),
            "0 values",
        ),
        (
            LookupResponse(buckets_resp=(PbLookupRespForBucket(bucket_id=0, error_code=20, error_message="a log"),)),
            "a log",
        ),
    ],
)
async def test_silence_and_miscounts_are_errors(cluster: Cluster, answer: LookupResponse, says: str) -> None:
    """A key is missing only where the server says so."""
    looking = asyncio.ensure_future(find(cluster))
    (await cluster.channel.next()).answer.set_result(decode(PackedLookupResponse, memoryview(encode(answer))))
    with pytest.raises(LakewardError, match=says):
        await looking


async def test_rows_of_prefixes_come_prefix_by_prefix(cluster: Cluster) -> None:
    """In the order of the prefixes, whatever bucket answers first."""
    looking = asyncio.ensure_future(lookups(cluster).find_by_prefix(ROWS.select(["a"]), Bucketing.JAVA))
    asked = await cluster.channel.next()
    replies = []
    for bucket in asked.message.buckets_req:
        lists = tuple(PbValueList(values=(key + b"1", key + b"2")) for key in bucket.keys)
        replies.append(PbPrefixLookupRespForBucket(bucket_id=bucket.bucket_id, value_lists=lists))
    asked.answer.set_result(PrefixLookupResponse(buckets_resp=tuple(reversed(replies))))
    values = bytes_of(parse_value_batch(bytes(encode_value_batch(await looking))))
    assert values == [b"\1" + prefix + number for prefix in (b"x", b"y", b"z", b"x") for number in (b"1", b"2")]
