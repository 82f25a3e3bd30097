"""Marks of logs: what is asked, and which batch they name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from arrow_batches import ids_batch
from fake_cluster import Asked, FakeCluster, table_info
from log_fetches import place

from lakeward.client.admin.offsets import Place
from lakeward.client.read.log_marks import LogMark, log_ends, log_marks
from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.messages.log import FetchLogResponse, PbFetchLogRespForBucket, PbFetchLogRespForTable
from lakeward.records.batch.log_batch import stamp

INFO = table_info("name STRING, id BIGINT", buckets=4)


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    """A cluster that answers when the test says so."""
    made = FakeCluster()
    yield made
    made.workers.shutdown()


def batch(rows: int, base_offset: int, time_ms: int, **header: int) -> bytearray:
    """A batch as a server has stamped it."""
    made = ids_batch(range(rows), **header)
    stamp(made, 0, base_offset, time_ms)
    return made


def answer(asked: Asked, *buckets: bytes | bytearray | ErrorCode) -> None:
    """Answer each bucket that was asked for with records or an error."""
    (table,) = asked.message.tables_req
    found = [
        PbFetchLogRespForBucket(bucket_id=one.bucket_id, error_code=said.value)
        if isinstance(said, ErrorCode)
        else PbFetchLogRespForBucket(bucket_id=one.bucket_id, records=memoryview(bytes(said)))
        for one, said in zip(table.buckets_req, buckets, strict=True)
    ]
    told = PbFetchLogRespForTable(table_id=7, buckets_resp=tuple(found))
    asked.answer.set_result(FetchLogResponse(tables_resp=(told,)))


def begin(cluster: FakeCluster, ends: dict[Place, int]) -> asyncio.Future[dict[Place, LogMark]]:
    """A search that is under way."""
    return asyncio.ensure_future(log_marks(cluster, INFO, ends))  # type: ignore[arg-type]


async def test_a_mark_is_the_batch_before_an_end(cluster: FakeCluster) -> None:
    """All buckets are asked at once, for one small column; a batch that did not fit is asked for alone."""
    search = begin(cluster, {place(0): 12, place(1): 3})
    asked = await cluster.channel.next()
    (table,) = asked.message.tables_req
    assert [(b.bucket_id, b.fetch_offset) for b in table.buckets_req] == [(0, 11), (1, 2)]
    assert tuple(table.projected_fields) == (1,)
    answer(asked, batch(4, 10, 5, writer_id=8, sequence=2), b"")
    alone = await cluster.channel.next()
    assert [b.bucket_id for b in alone.message.tables_req[0].buckets_req] == [1]
    answer(alone, batch(3, 0, 4))
    found = await search
    assert found[place(0)] == LogMark(None, 10, 13, 5, 8, 2)
    assert found[place(1)].commit_timestamp_ms == 4


async def test_ends_of_several_tables_are_one_question(cluster: FakeCluster) -> None:
    """With the batches at the offsets; what is refused, or does not say where it ends, is not told."""
    cluster.is_open = True
    other = replace(INFO, table_id=8)
    search = asyncio.ensure_future(log_ends(cluster, [(INFO, {place(0): 12, place(1): 3}), (other, {place(0): 2})]))  # type: ignore[arg-type]
    asked = await cluster.channel.next()
    tables = asked.message.tables_req
    assert [[(b.bucket_id, b.fetch_offset) for b in t.buckets_req] for t in tables] == [[(0, 12), (1, 3)], [(0, 2)]]
    records = memoryview(bytes(batch(4, 10, 5)))
    first = PbFetchLogRespForBucket(bucket_id=0, records=records, high_watermark=20)
    second = PbFetchLogRespForBucket(bucket_id=1, records=b"", high_watermark=3)
    refused = PbFetchLogRespForBucket(bucket_id=0, error_code=ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value)
    told = [
        PbFetchLogRespForTable(table_id=7, buckets_resp=(first, second)),
        PbFetchLogRespForTable(table_id=8, buckets_resp=(refused,)),
    ]
    asked.answer.set_result(FetchLogResponse(tables_resp=tuple(told)))
    ends, nothing = await search
    assert {p.id.bucket: (end.end, end.mark is not None) for p, end in ends.items()} == {0: (20, True), 1: (3, False)}
    assert nothing == {}


async def test_ends_that_are_refused_are_not_told(cluster: FakeCluster) -> None:
    """Whoever needs them asks in another way, which says why."""
    asked = [(INFO, {place(0): 12})]
    assert await log_ends(cluster, asked) == [{}]  # type: ignore[arg-type]
    cluster.is_open = True
    search = asyncio.ensure_future(log_ends(cluster, asked))  # type: ignore[arg-type]
    (await cluster.channel.next()).answer.set_exception(ErrorCode.AUTHORIZATION.error("no"))
    assert await search == [{}]


async def test_a_log_that_ends_earlier_has_no_mark(cluster: FakeCluster) -> None:
    """Nor has one whose batch is in remote storage alone."""
    search = begin(cluster, {place(0): 12, place(1): 3})
    answer(await cluster.channel.next(), ErrorCode.LOG_OFFSET_OUT_OF_RANGE, b"")
    answer(await cluster.channel.next(), b"")
    assert await search == {}


async def test_a_leader_that_moved_is_asked_again(cluster: FakeCluster) -> None:
    """Trouble that passes is no answer."""
    search = begin(cluster, {place(0): 2})
    answer(await cluster.channel.next(), ErrorCode.NOT_LEADER_OR_FOLLOWER)
    answer(await cluster.channel.next(), batch(2, 0, 4))
    assert (await search)[place(0)].last_offset == 1


async def test_whoever_may_not_read_is_refused(cluster: FakeCluster) -> None:
    """That is how a right that was taken away is noticed."""
    search = begin(cluster, {place(0): 2})
    answer(await cluster.channel.next(), ErrorCode.AUTHORIZATION)
    with pytest.raises(LakewardError) as refused:
        await search
    assert refused.value.code is ErrorCode.AUTHORIZATION
